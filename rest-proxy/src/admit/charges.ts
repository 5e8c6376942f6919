/** Stage 1 of 5: admit. Charges each request to its caller, by the method. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Caller } from "@tributary/kit/caller/caller";
import { AppError } from "@tributary/kit/errors/app-error";
import type { CallerLimits } from "@tributary/kit/rate-limit/caller-limits";
import { type RequestClass, retryAfterSecondsOf } from "@tributary/kit/rate-limit/rate-decision";

export interface RestCharges {
  /** To a limit of the client key or address, since the user is not known yet. Adds headers only to a rejection. @throws AppError */
  chargeVerification(request: IncomingMessage, headers: string[]): void;
  /** Pushes the rate limit headers to `headers`. Nothing is charged for `OPTIONS`. @throws AppError TOO_MANY_REQUESTS */
  charge(request: IncomingMessage, caller: Pick<Caller, "key" | "address">, headers: string[]): void;
  /** Undefined: the share of a service's places does not limit the caller. */
  shareKeyOf(caller: Pick<Caller, "key" | "address">): string | undefined;
  /** Each whole millisecond beyond the first, which `charge` has charged, is 1 more unit. */
  debit(request: IncomingMessage, caller: Pick<Caller, "key" | "address">, cpuMs: number): void;
  /** As a read. Does not throw: the input is rejected anyway. */
  chargeUnreadable(socket: Socket, headers: string[]): void;
}

export function createRestCharges(limits: CallerLimits): RestCharges {
  return {
    chargeVerification(request, headers) {
      const decision = limits.chargeVerification(request);
      if (decision === undefined || decision.isAdmitted) return;
      limits.addHeaders("reads", decision, headers);
      throw rateLimitExceeded("reads", retryAfterSecondsOf(decision));
    },
    charge({ method }, caller, headers) {
      // OPTIONS needs no service, and a browser does not expose to a page why its preflight was rejected.
      if (method === "OPTIONS") return;
      const requestClass = classOf(method);
      const decision = limits.charge(caller, requestClass, 1);
      if (decision === undefined) return;
      limits.addHeaders(requestClass, decision, headers);
      if (!decision.isAdmitted) throw rateLimitExceeded(requestClass, retryAfterSecondsOf(decision));
    },
    shareKeyOf: (caller) => limits.shareKeyOf(caller),
    debit({ method }, caller, cpuMs) {
      const units = Math.floor(cpuMs) - 1;
      if (units > 0) limits.debit(caller, classOf(method), units);
    },
    chargeUnreadable(socket, headers) {
      const decision = limits.chargeUnreadable(socket);
      if (decision) limits.addHeaders("reads", decision, headers);
    },
  };
}

function classOf(method: string | undefined): RequestClass {
  return method === "GET" || method === "HEAD" ? "reads" : "writes";
}

function rateLimitExceeded(requestClass: RequestClass, retryAfterSeconds: number): AppError {
  const message = `The rate limit of ${requestClass} is exceeded. Retry after ${retryAfterSeconds} s.`;
  return new AppError("TOO_MANY_REQUESTS", message, { retryAfterSeconds });
}
