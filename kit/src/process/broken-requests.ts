import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { PendingResponses } from "./lifecycle.ts";

/** Writes the rejection to the connection and closes it. @param code of Node's parser; undefined for CONNECT. */
export type RejectConnection = (socket: Duplex, code: string | undefined) => void;

/**
 * Rejects what Node does not pass to the handler as a complete request: malformed bytes, too large headers, requests that take too long, CONNECT.
 * The rejection is sent after the pending responses to earlier requests on the same connection (RFC 9112, 9.3.2). `prepare` of the gateway and of
 * the REST proxy calls this function, before the server listens; the services leave these rejections to Node.
 */
export function rejectBrokenRequests(
  server: Server,
  pendingResponses: PendingResponses,
  reject: RejectConnection,
): void {
  const broken = new WeakSet<Duplex>();

  function rejectInOrder(socket: Duplex, code: string | undefined): void {
    // Node creates a response object even for a request whose body breaks off. If the head of that response is not sent yet, the client gets the
    // rejection instead, so the rejection does not wait for that response.
    const mustPrecede = ({ req, headersSent }: ServerResponse) => req.complete || headersSent;
    const lastPreceding = pendingResponses(socket).findLast(mustPrecede);
    // Checks again after `close`: by then the head of the response to the broken request may have been sent.
    if (lastPreceding) lastPreceding.once("close", () => rejectInOrder(socket, code));
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
