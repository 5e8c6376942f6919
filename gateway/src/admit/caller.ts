// Stage 1 of 5: admit. Identifies the caller of each GraphQL request by its token, rejects an invalid token, and charges the request to the caller's
// rate limit. Called by pipeline.ts.
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

/**
 * Identifies the caller and charges the request to it. Returns a promise only if a signature must be verified.
 * @returns undefined if the request is admitted. Otherwise the reason to reject it: RATE_LIMITED, or as `identifyCaller`. Never throws.
 */
export function admitCaller(
  options: AdmitCallerOptions,
  exchange: GatewayExchange,
): Error | undefined | Promise<Error | undefined> {
  const limited = options.charges.chargeVerification(exchange);
  if (limited) return limited;
  const rejection = identifyCaller(options.callers, exchange);
  if (rejection instanceof Promise) return rejection.then((verified) => charge(options, exchange, verified));
  return charge(options, exchange, rejection);
}

/** A request with an invalid token counts towards the limit of its client key or its address. */
function charge(
  { callers, charges }: AdmitCallerOptions,
  exchange: GatewayExchange,
  rejection: Error | undefined,
): Error | undefined {
  return charges.chargeArrival(exchange, exchange.caller ?? callers.callerWithoutToken(exchange.request)) ?? rejection;
}

/**
 * Sets the caller of the exchange. Returns a promise only if a signature must be verified.
 * @returns undefined, or the reason to reject the request: a Rejection UNAUTHENTICATED or SERVICE_UNAVAILABLE, or a bug. Never throws.
 */
function identifyCaller(callers: Callers, exchange: GatewayExchange): Error | undefined | Promise<Error | undefined> {
  try {
    const caller = callers.identify(exchange.request);
    if (caller instanceof Promise) return caller.then((verified) => setCaller(exchange, verified), toRejection);
    return setCaller(exchange, caller);
  } catch (error) {
    return toRejection(error);
  }
}

function setCaller(exchange: GatewayExchange, caller: Caller): undefined {
  exchange.caller = caller;
  if (exchange.record) exchange.record.client = caller.client;
}

function toRejection(error: unknown): Error {
  if (error instanceof AppError && error.code === "UNAUTHENTICATED") {
    return new Rejection("UNAUTHENTICATED", error.message, { "WWW-Authenticate": invalidTokenChallenge });
  }
  if (error instanceof AppError && error.code === "SERVICE_UNAVAILABLE")
    return new Rejection("SERVICE_UNAVAILABLE", error.message, { "Retry-After": String(error.retryAfterSeconds ?? 1) });
  return error instanceof Error ? error : new Error(String(error));
}
