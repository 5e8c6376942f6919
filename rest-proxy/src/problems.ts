import { STATUS_CODES, type ServerResponse } from "node:http";
import { AppError, type AppErrorOptions, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import { toProblemDocument } from "@tributary/kit/http/problem";

/** Errors of a connection that mean: the service is not there, or does not speak HTTP. All else is a bug of ours. */
const connectionCodes = /^(?:E[A-Z_]+|HPE_\w+|UND_ERR_SOCKET)$/;
const ownCodes = /^ERR_/;

export function isConnectionError(error: unknown): boolean {
  const { code } = { ...(error as { readonly code?: unknown }) };
  return typeof code === "string" && connectionCodes.test(code) && !ownCodes.test(code);
}

/** What the client hears when a service could not be asked, or its answer could not be read. Never what the error itself says. */
export function toServiceError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return isConnectionError(error)
    ? serviceDown(error)
    : new AppError("INTERNAL_SERVER_ERROR", "Something went wrong on our side.", { cause: error });
}

/** A service has no response for a request. */
export class ServiceFailure extends AppError {
  /** The last one that the request was sent to, by URL and address: for the log. Undefined when there was none. */
  readonly replica: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions, replica: string | undefined) {
    super(code, message, options);
    this.replica = replica;
  }
}

/** 502, with the time after which it is worth another try. */
export function serviceDown(cause: unknown, replica?: string): AppError {
  const options = { cause, retryAfterSeconds: 5 };
  return new ServiceFailure(
    "BAD_GATEWAY",
    "The service behind this path does not answer. Try again.",
    options,
    replica,
  );
}

/** 504. The service may be at work on it still. */
export function serviceLate(cause: unknown, replica?: string): AppError {
  return new ServiceFailure(
    "GATEWAY_TIMEOUT",
    "The service behind this path did not answer in time.",
    { cause },
    replica,
  );
}

/** What Node's parser refused, as the code that the client hears. */
export function codeOfParserError(code: string | undefined): ErrorCode {
  if (code === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return "PAYLOAD_TOO_LARGE";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "REQUEST_TIMEOUT";
  return "MALFORMED_REQUEST";
}

const sentences: Partial<Record<ErrorCode, string>> = {
  HEADERS_TOO_LARGE: "The headers have at most 16 KiB together.",
  PAYLOAD_TOO_LARGE: "The chunk extensions are too long.",
  REQUEST_TIMEOUT: "The request did not come to its end in time.",
};

/**
 * A whole HTTP answer for a connection on which no request could be read; the connection is closed after it. `lines`: more headers, names and
 * values in turn.
 */
export function rawProblem(code: ErrorCode, requestId: string, lines: readonly string[] = []): string {
  const error = new AppError(code, sentences[code] ?? "This is not a request as HTTP has it.");
  const body = JSON.stringify(toProblemDocument(error, { requestId }));
  return [
    `HTTP/1.1 ${statusOf[code]} ${STATUS_CODES[statusOf[code]] ?? ""}`,
    "Content-Type: application/problem+json",
    "Cache-Control: no-store",
    `X-Request-Id: ${requestId}`,
    ...lines.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${lines[at + 1]}`] : [])),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

/** Whether anybody can still be answered. */
export function isOpen(response: ServerResponse): boolean {
  return !response.headersSent && !response.destroyed && !response.closed;
}
