// Stage 1 of 5: may you come in? What Node's parser refuses before there is a request.
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { rejectBrokenRequests } from "@tributary/kit/process/broken-requests";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import { type ClientCode, codes, refusalBody } from "../errors/codes.ts";

const reasons: Partial<Record<ClientCode, string>> = {
  MALFORMED_REQUEST: "Bad Request",
  REQUEST_TIMEOUT: "Request Timeout",
  HEADERS_TOO_LARGE: "Request Header Fields Too Large",
};

/** Broken or ambiguous HTTP (two lengths, a length beside chunks), too large headers, too slow clients: JSON, and the connection is closed. */
export function answerBrokenRequests(server: Server, pendingResponses: PendingResponses): void {
  // Node would respond to a missing Host without a body; server.ts checks it.
  Object.assign(server, { requireHostHeader: false });
  rejectBrokenRequests(server, pendingResponses, (socket, code) => refuse(socket, toCode(code)));
  server.on("checkExpectation", (_request, response) => {
    const body = refusalBody("MALFORMED_REQUEST", "This expectation cannot be met.");
    response.writeHead(417, { "Content-Type": "application/json; charset=utf-8", Connection: "close" }).end(body);
  });
}

function toCode(parserCode: string | undefined): ClientCode {
  if (parserCode === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  return parserCode === "ERR_HTTP_REQUEST_TIMEOUT" ? "REQUEST_TIMEOUT" : "MALFORMED_REQUEST";
}

function refuse(socket: Duplex, code: ClientCode): void {
  const body = refusalBody(code, code === "MALFORMED_REQUEST" ? "The request is not HTTP." : codes[code].message);
  socket.end(
    [
      `HTTP/1.1 ${codes[code].status} ${reasons[code]}`,
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}
