// Stage 1 of 5: admit. Identifies the caller of each GraphQL request by its token, and charges the request to its rate limit.
import type { Caller, Callers } from "@tributary/kit/caller/caller";
import { AppError } from "@tributary/kit/errors/app-error";
import { invalidTokenChallenge } from "@tributary/kit/http/challenges";
import { Rejection } from "../errors/rejections.ts";
import type { Charges } from "./charges.ts";
import type { GatewayExchange } from "./exchange.ts";

export interface AdmitCallerOptions {
  readonly callers: Callers;
  readonly charges: Charges;
}

/** Never throws; a promise only if a signature must be verified. @returns the reason to reject the request, if there is one. */
export function admitCaller(
  options: AdmitCallerOptions,
  exchange: GatewayExchange,
): Error | undefined | Promise<Error | undefined> {
  const { callers, charges } = options;
  try {
    const caller = callers.identify(exchange.request);
    if (caller) return chargeIdentified(options, exchange, caller);
  } catch (error) {
    return charge(options, exchange, toRejection(error));
  }
  const rejection = charges.chargeVerification(exchange);
  if (rejection) return rejection;
  return callers.verify(exchange.request).then(
    (caller) => chargeIdentified(options, exchange, caller),
    (error: unknown) => charge(options, exchange, toRejection(error)),
  );
}

function chargeIdentified(options: AdmitCallerOptions, exchange: GatewayExchange, caller: Caller): Error | undefined {
  exchange.caller = caller;
  if (exchange.record) exchange.record.client = caller.client;
  return charge(options, exchange, undefined);
}

/** Also charges a rejected request: one with an invalid token counts towards the limit of its client key or its address. */
function charge(
  { callers, charges }: AdmitCallerOptions,
  exchange: GatewayExchange,
  rejection: Error | undefined,
): Error | undefined {
  const chargedCaller = exchange.caller ?? callers.callerWithoutToken(exchange.request);
  return charges.chargeArrival(chargedCaller) ?? rejection;
}

function toRejection(error: unknown): Error {
  if (error instanceof AppError && error.code === "UNAUTHENTICATED") {
    return new Rejection("UNAUTHENTICATED", error.message, { "WWW-Authenticate": invalidTokenChallenge });
  }
  if (error instanceof AppError && error.code === "SERVICE_UNAVAILABLE")
    return new Rejection("SERVICE_UNAVAILABLE", error.message, { "Retry-After": String(error.retryAfterSeconds ?? 1) });
  return error instanceof Error ? error : new Error(String(error));
}
