import { AppError, type AppErrorOptions, type ErrorCode, internalErrorMessage } from "@tributary/kit/errors/app-error";

/** The client disconnected before it got its response: nothing is written and nothing is reported. */
export class ClientDisconnected extends Error {}

/** A service has no response for a request. */
export class ServiceFailure extends AppError {
  /** The last replica that the request was sent to, by URL and address, for the log. Undefined if it was sent to none. */
  readonly replica: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions, replica: string | undefined) {
    super(code, message, options);
    this.replica = replica;
  }
}

/** 502 with `Retry-After`. */
export function serviceDown(cause: unknown, replica?: string): AppError {
  const options = { cause, retryAfterSeconds: 5 };
  return new ServiceFailure("BAD_GATEWAY", "The service for this path does not respond. Try again.", options, replica);
}

/** 504. The service may still be processing the request. */
export function serviceLate(cause: unknown, replica?: string): AppError {
  const message = "The service for this path did not respond in time.";
  return new ServiceFailure("GATEWAY_TIMEOUT", message, { cause }, replica);
}

/** Error codes of Node and undici which mean that the service is unreachable or does not speak HTTP. Any other error is a bug. */
const connectionCodes = /^(?:E[A-Z_]+|HPE_\w+|UND_ERR_SOCKET)$/;
const nodeApiCodes = /^ERR_/;

export function isConnectionError(error: unknown): boolean {
  const { code } = { ...(error as { readonly code?: unknown }) };
  return typeof code === "string" && connectionCodes.test(code) && !nodeApiCodes.test(code);
}

/** The client's error for a failed request to a service. The original error becomes its `cause`, for the log only. */
export function toServiceError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return isConnectionError(error)
    ? serviceDown(error)
    : new AppError("INTERNAL_SERVER_ERROR", internalErrorMessage, { cause: error });
}
