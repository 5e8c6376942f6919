import { DeadlinePassed } from "@tributary/kit/http/abort-source";
import { breakerRetrySeconds } from "@tributary/kit/upstream/breaker";
import { AppError, type AppErrorOptions, type ErrorCode, internalErrorMessage } from "@tributary/kit/errors/app-error";

/**
 * The client disconnected before it got its response, or no client waits for the response any longer. No response is written and nothing is logged;
 * if a request to a service was in flight, `service-observer.ts` counts it as `CLIENT_DISCONNECTED`.
 */
export class ClientDisconnected extends Error {}

/** The error for the client if a request was sent to a service, or should have been, and the proxy got no complete response. */
export class ServiceFailure extends AppError {
  /** The last replica that the request was sent to, by URL and address, for the log. Undefined if it was sent to none. */
  readonly replica: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions, replica: string | undefined) {
    super(code, message, options);
    this.replica = replica;
  }
}

/** Nothing was sent, since too many requests were in flight, perhaps of this client alone. */
export function isRefused(error: unknown): boolean {
  return error instanceof AppError && !(error instanceof ServiceFailure) && error.code === "SERVICE_UNAVAILABLE";
}

/** Within the range of the pauses of an ejected replica, 1 to 30 s (`kit/src/upstream/replica-health.ts`). */
const badGatewayRetrySeconds = 5;

/** 502 with `Retry-After`: the service is unreachable, broke the connection or sent invalid HTTP. @param replica see `ServiceFailure`. */
export function badGateway(cause: unknown, replica?: string): ServiceFailure {
  const options = { cause, retryAfterSeconds: badGatewayRetrySeconds };
  return new ServiceFailure("BAD_GATEWAY", "The service for this path does not respond. Try again.", options, replica);
}

/** 502 without `Retry-After`: the service may have processed the request, which is not idempotent. @param replica see `ServiceFailure`. */
export function responseLost(cause: unknown, replica: string | undefined): ServiceFailure {
  const message = "The service for this path sent no complete response. It may have processed the request.";
  return new ServiceFailure("BAD_GATEWAY", message, { cause }, replica);
}

/** 503 with `Retry-After`, for a request that may be repeated. @param replica see `ServiceFailure`. */
export function serviceSilent(cause: unknown, replica: string | undefined): ServiceFailure {
  const options = { cause, retryAfterSeconds: breakerRetrySeconds };
  const sent = replica === undefined ? " Nothing was sent to it." : "";
  const message = `The service for this path does not respond.${sent} Try again.`;
  return new ServiceFailure("SERVICE_UNAVAILABLE", message, options, replica);
}

/** The client did not read its response in time. The head is sent, so it gets no other response. */
export class UnreadResponse extends AppError {
  constructor(cause: unknown) {
    super("GATEWAY_TIMEOUT", "The response was not read in time.", { cause });
  }
}

/** 504, without `Retry-After`: the service may still be processing the request. @param replica see `ServiceFailure`. */
export function gatewayTimeout(cause: unknown, replica?: string): ServiceFailure {
  const message = "The service for this path did not respond in time.";
  return new ServiceFailure("GATEWAY_TIMEOUT", message, { cause }, replica);
}

/** Codes of the operating system (`ECONNRESET`), of Node's HTTP parser (`HPE_…`: invalid HTTP), and of undici for a closed connection. */
const connectionCodes = /^(?:E[A-Z_]+|HPE_\w+|UND_ERR_SOCKET)$/;
/** Codes of Node's own API (`ERR_INVALID_CHAR`), which begin with E too. They mean that the proxy passed an invalid argument: a bug. */
const nodeApiCodes = /^ERR_/;

/** Whether an error means that the service is unreachable or does not speak HTTP. Any other error is a bug of the proxy. */
export function isConnectionError(error: unknown): boolean {
  // Spread, since `error` may be null or undefined.
  const { code } = { ...(error as { readonly code?: unknown }) };
  if (typeof code !== "string" || nodeApiCodes.test(code)) return false;
  return connectionCodes.test(code);
}

/**
 * The error for the client after a request to a service has failed. An `AppError` is returned unchanged; any other error becomes the `cause`, which
 * only the log contains.
 */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof DeadlinePassed) return gatewayTimeout(error);
  if (isConnectionError(error)) return badGateway(error);
  return new AppError("INTERNAL_SERVER_ERROR", internalErrorMessage, { cause: error });
}
