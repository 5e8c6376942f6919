// Stage 1 of 5: admit. Responds to requests that Node's HTTP parser rejects before it creates a request object.
import type { Server } from "node:http";
import { type BrokenRequestRejection, rejectBrokenRequests } from "@tributary/kit/process/broken-requests";
import type { PendingResponses } from "@tributary/kit/process/lifecycle";
import { type ClientCode, codes } from "../errors/codes.ts";
import { rejectionBody } from "../errors/rejections.ts";
import type { GatewayObserver } from "../observations.ts";

/**
 * Sends JSON and closes the connection. Node rejects malformed or ambiguous HTTP (two Content-Length headers, or one with chunked encoding), too
 * large headers, and headers or bodies that arrive too slowly.
 */
export function rejectBrokenHttp(server: Server, pendingResponses: PendingResponses, observe: GatewayObserver): void {
  // server.ts rejects it: the rejection by Node would have no body.
  Object.assign(server, { requireHostHeader: false });
  rejectBrokenRequests(server, pendingResponses, (_socket, nodeCode) => {
    const code = toRejectionCode(nodeCode);
    observe({ kind: "broken-request", code, status: codes[code].statuses.json });
    return toRejection(code);
  });
}

function toRejectionCode(nodeCode: string | undefined): ClientCode {
  if (nodeCode === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  if (nodeCode === "ERR_HTTP_REQUEST_TIMEOUT") return "REQUEST_TIMEOUT";
  return "MALFORMED_REQUEST";
}

function toRejection(code: ClientCode): BrokenRequestRejection {
  const message = code === "MALFORMED_REQUEST" ? "The request is not valid HTTP." : codes[code].message;
  const headers = ["Content-Type", "application/json; charset=utf-8"];
  return { status: codes[code].statuses.json, headers, body: rejectionBody(code, message) };
}
