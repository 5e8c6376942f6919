import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { STATUS_CODES } from "./node-http.ts";
import { forEachHeader } from "../http/raw-headers.ts";
import type { PendingResponses } from "./lifecycle.ts";
import { abortConnection } from "./pending-responses.ts";

export interface BrokenRequestRejection {
  readonly status: number;
  /** Names and values in turn, without `Content-Length` and `Connection`. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** @param code of Node's parser; undefined for CONNECT. */
export type RejectBroken = (socket: Duplex, code: string | undefined) => BrokenRequestRejection;

/** Time for the client to read the rejection before unread bytes cause a reset. */
const lingerMs = 1_000;

/**
 * Rejects what Node does not pass to the handler as a complete request: malformed bytes, too large headers, requests that take too long, CONNECT. The
 * rejection is sent after the pending responses on the same connection (RFC 9112, 9.3.2); a CONNECT behind them closes it at once.
 */
export function rejectBrokenRequests(server: Server, pendingResponses: PendingResponses, reject: RejectBroken): void {
  const broken = new WeakSet<Duplex>();

  function rejectInOrder(socket: Duplex, code: string | undefined): void {
    // Node creates a response even for a request whose body breaks off. Unless its head is sent, the client gets the rejection instead.
    const mustPrecede = ({ req, headersSent }: ServerResponse) => req.complete || headersSent;
    const lastPreceding = pendingResponses(socket).findLast(mustPrecede);
    // Checks again after `close`: by then the head of the response to the broken request may have been sent.
    if (lastPreceding) lastPreceding.once("close", () => rejectInOrder(socket, code));
    else if (socket.writable) endConnection(socket, writeResponse(reject(socket, code)));
    else socket.destroy();
  }

  server.on("connect", (_request, socket) => {
    socket.on("error", () => undefined);
    const pending = pendingResponses(socket);
    if (pending.length === 0) rejectInOrder(socket, undefined);
    else abortConnection(socket, pending);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // The parser reports the same error again with each chunk that follows.
    if (broken.has(socket)) return;
    broken.add(socket);
    if (error.code === "ECONNRESET") socket.destroy();
    else rejectInOrder(socket, error.code);
  });
}

function writeResponse({ status, headers, body }: BrokenRequestRejection): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`];
  forEachHeader(headers, (name, value) => lines.push(`${name}: ${value}`));
  return [...lines, `Content-Length: ${Buffer.byteLength(body)}`, "Connection: close", "", body].join("\r\n");
}

/**
 * Discards what else arrives: the rest of a late request would complete it, and a request whose client got a 408 must not be processed, since the
 * client may repeat it. Node has no timeout for a connection on which the server has sent its last bytes.
 */
function endConnection(socket: Duplex, lastBytes: string): void {
  // The parser does not get the bytes any more.
  socket.removeAllListeners("data").on("data", () => undefined);
  socket.resume();
  // An `error` event without a listener would end the process.
  socket.on("error", () => undefined);
  socket.end(lastBytes);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}
