import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { PendingResponses } from "./lifecycle.ts";

/** Writes the rejection to the connection and closes it. @param code of Node's parser; undefined for CONNECT. */
export type RejectConnection = (socket: Duplex, code: string | undefined) => void;

/**
 * Rejects input that never becomes a request: malformed bytes, too large headers, requests that take too long, CONNECT. The rejection is sent after
 * the pending responses to the requests before it on the same connection (RFC 9112, 9.3.2). Call it before the server listens.
 */
export function rejectBrokenRequests(
  server: Server,
  pendingResponses: PendingResponses,
  reject: RejectConnection,
): void {
  const broken = new WeakSet<Duplex>();

  function rejectInOrder(socket: Duplex, code: string | undefined): void {
    // A request that broke off in its body has a response too; until its head is sent, the rejection takes its place.
    const isBefore = ({ req, headersSent }: ServerResponse) => req.complete || headersSent;
    const last = pendingResponses(socket).findLast(isBefore);
    if (last) last.once("close", () => rejectInOrder(socket, code));
    else if (socket.writable) reject(socket, code);
    else socket.destroy();
  }

  server.on("connect", (_request, socket) => rejectInOrder(socket, undefined));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // The parser reports the same error again with each chunk that follows.
    if (broken.has(socket)) return;
    broken.add(socket);
    if (error.code === "ECONNRESET") socket.destroy();
    else rejectInOrder(socket, error.code);
  });
}
