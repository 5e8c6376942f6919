// Stage 1 of 5: admit. The caller of a request: its token is verified, and an invalid one rejected for every media type.
import type { Caller, Callers } from "@tributary/kit/caller/caller";
import { AppError } from "@tributary/kit/errors/app-error";
import { Rejection } from "../errors/rejections.ts";
import type { GatewayExchange } from "./exchange.ts";

/**
 * Sets the caller of the exchange. A promise only if a signature must be verified.
 * @returns undefined, or the reason to reject the request: a Rejection UNAUTHENTICATED or SERVICE_UNAVAILABLE, or a bug. Never throws.
 */
export function identifyCaller(
  callers: Callers,
  exchange: GatewayExchange,
): Error | undefined | Promise<Error | undefined> {
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
    // RFC 6750, 3.1.
    const challenge = { "WWW-Authenticate": 'Bearer realm="tributary", error="invalid_token"' };
    return new Rejection("UNAUTHENTICATED", error.message, challenge);
  }
  if (error instanceof AppError && error.code === "SERVICE_UNAVAILABLE")
    return new Rejection("SERVICE_UNAVAILABLE", error.message, { "Retry-After": String(error.retryAfterSeconds ?? 1) });
  return error instanceof Error ? error : new Error(String(error));
}
