// Before stage 1 of 5: settings of the HTTP server, and responses to input that is not a valid HTTP request.
import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AppError, type ErrorCode, statusOf } from "@tributary/kit/errors/app-error";
import { toProblemDocument } from "@tributary/kit/http/problem";
import { type BrokenRequestRejection, rejectBrokenRequests } from "@tributary/kit/process/broken-requests";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import type { Observe } from "../telemetry/observations.ts";
import type { RestCharges } from "./charges.ts";

export interface ConnectionOptions {
  readonly observe: Observe;
  readonly charges: Pick<RestCharges, "chargeUnreadable">;
  readonly pendingResponses: PendingResponses;
}

/** Responds with a problem document to malformed bytes, `CONNECT` and timeouts. The pipeline handles `Expect` and a missing `Host`. */
export function prepareServer(server: Server, { observe, charges, pendingResponses }: ConnectionOptions): void {
  // readHost rejects it with a problem document.
  Object.assign(server, { requireHostHeader: false });
  // The body reader sends 100 (Continue), after its checks.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  rejectBrokenRequests(server, pendingResponses, reject);

  /** @param parserCode of Node's HTTP parser; undefined for CONNECT. */
  function reject(socket: Duplex, parserCode: string | undefined): BrokenRequestRejection {
    const requestId = randomUUID();
    const rejection = codeOfParserError(parserCode);
    observe({ kind: "unreadable", code: parserCode ?? "CONNECT", rejection, requestId });
    const headers: string[] = [];
    // A connection of `node:http` is a Socket, although its type is wider.
    if (socket instanceof Socket) charges.chargeUnreadable(socket, headers);
    return toRejection(rejection, requestId, headers);
  }
}

/** @param parserCode undefined for CONNECT, which a proxy of URLs does not serve. */
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

/** @param headers alternating names and values. */
function toRejection(code: ErrorCode, requestId: string, headers: readonly string[]): BrokenRequestRejection {
  const error = new AppError(code, messages[code] ?? "The request is not valid HTTP.");
  return {
    status: statusOf[code],
    headers: [
      ...["Content-Type", "application/problem+json", "Cache-Control", "no-store", "X-Request-Id", requestId],
      ...headers,
    ],
    body: JSON.stringify(toProblemDocument(error, { requestId })),
  };
}
