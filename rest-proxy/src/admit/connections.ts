// Before stage 1 of 5: settings of the HTTP server, and responses to input that is not a valid HTTP request.
import { randomUUID } from "node:crypto";
import { type Server, STATUS_CODES } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AppError, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import { toProblemDocument } from "@tributary/kit/http/problem";
import { rejectBrokenRequests } from "@tributary/kit/process/broken-requests";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import type { Observe } from "../telemetry/observations.ts";
import type { RestCharges } from "./charges.ts";

export interface ConnectionOptions {
  readonly observe: Observe;
  readonly charges: Pick<RestCharges, "chargeUnreadable">;
  readonly pendingResponses: PendingResponses;
}

/**
 * Rejects input that never becomes a request (malformed bytes, `CONNECT`, timeouts) with a problem document, and lets the pipeline handle `Expect`
 * and a missing `Host`. `startServer` calls it through `prepare` in `server.ts`, before the server listens.
 */
export function prepareServer(server: Server, { observe, charges, pendingResponses }: ConnectionOptions): void {
  // Node would reject a missing Host itself, without a problem document; readHost rejects it instead.
  Object.assign(server, { requireHostHeader: false });
  // Node would send 100 (Continue) before the request is checked; the body reader sends it instead.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  // Other expectations may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  rejectBrokenRequests(server, pendingResponses, writeRejection);

  /** @param parserCode of Node's HTTP parser; undefined for the method CONNECT. */
  function writeRejection(socket: Duplex, parserCode: string | undefined): string {
    const requestId = randomUUID();
    observe({ kind: "unreadable", code: parserCode ?? "CONNECT", requestId });
    const headers: string[] = [];
    // Adds the headers of the rate limit. A connection of `node:http` is a Socket, although its type is wider.
    if (socket instanceof Socket) charges.chargeUnreadable(socket, headers);
    return writeProblemResponse(codeOfParserError(parserCode), requestId, headers);
  }
}

/** The error code for an error of Node's HTTP parser. @param parserCode undefined for the method CONNECT, which a proxy of URLs does not serve. */
function codeOfParserError(parserCode: string | undefined): ErrorCode {
  switch (parserCode) {
    case "HPE_HEADER_OVERFLOW":
      return "HEADERS_TOO_LARGE";
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return "PAYLOAD_TOO_LARGE";
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "REQUEST_TIMEOUT";
    case undefined:
    default:
      return "MALFORMED_REQUEST";
  }
}

const messages: Partial<Record<ErrorCode, string>> = {
  HEADERS_TOO_LARGE: "The headers are larger than 16 KiB in total.",
  PAYLOAD_TOO_LARGE: "The chunk extensions are too long.",
  REQUEST_TIMEOUT: "The request was not complete in time.",
};

/**
 * A complete HTTP response, as bytes for a connection on which no request could be parsed; the connection is closed after it.
 * @param headers more headers, as alternating names and values.
 */
function writeProblemResponse(code: ErrorCode, requestId: string, headers: readonly string[]): string {
  const error = new AppError(code, messages[code] ?? "The request is not valid HTTP.");
  const body = JSON.stringify(toProblemDocument(error, { requestId }));
  const status = statusOf[code];
  const headerLines: string[] = [];
  for (let i = 0; i < headers.length; i += 2) headerLines.push(`${headers[i]}: ${headers[i + 1]}`);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/problem+json",
    "Cache-Control: no-store",
    `X-Request-Id: ${requestId}`,
    ...headerLines,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
