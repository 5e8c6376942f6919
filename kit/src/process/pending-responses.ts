import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { InFlightList } from "../collections/in-flight-list.ts";

/** Responses that are not complete, also to requests that are still arriving. */
export interface PendingResponseList {
  /** Before the head of the response is written. @returns the last one that is pending on the same connection. */
  add(response: ServerResponse): ServerResponse | undefined;
  /**
   * From now on the last pending response of each connection, and every later one, has `Connection: close` (RFC 9112, 9.6), so that no client sends a
   * request on a connection that is about to be closed.
   */
  closeConnections(): void;
  count(): number;
  ofConnection(connection: Duplex): readonly ServerResponse[];
  /** Once no response to a completely received request is pending. */
  settled(): Promise<void>;
  /** Closes their connections. */
  abort(): void;
}

/** A property of the socket: each request reads and writes it, and a WeakMap is dearer. */
const lastPending = Symbol("last pending response");
type Connection = Socket & { [lastPending]?: ServerResponse | undefined };

export function createPendingResponseList(): PendingResponseList {
  const pending = new InFlightList<ServerResponse>();
  let isClosing = false;

  return {
    add(response) {
      const connection: Connection = response.req.socket;
      const previous = connection[lastPending];
      connection[lastPending] = response;
      const entry = pending.add(response);
      response.on("close", () => {
        pending.remove(entry);
        if (connection[lastPending] === response) connection[lastPending] = undefined;
      });
      if (isClosing) response.shouldKeepAlive = false;
      return previous;
    },
    closeConnections() {
      isClosing = true;
      for (const response of lastOfEachConnection(pending.items())) response.shouldKeepAlive = false;
    },
    count: () => pending.size,
    // Sorting all would take milliseconds for each malformed request, while thousands of responses are pending.
    ofConnection: (connection) => pending.items(({ req }) => req.socket === connection),
    abort() {
      for (const response of pending.items()) abortConnection(response.req.socket, [response]);
    },
    async settled() {
      for (;;) {
        const complete = pending.items(({ req }) => req.complete);
        if (complete.length === 0) return;
        await Promise.all(complete.map((response) => new Promise((resolve) => response.once("close", resolve))));
      }
    },
  };
}

/** After a CONNECT, Node's server knows nothing of a connection: an error of it would end the process, and no response would close with it. */
export function abortConnection(connection: Duplex, pending: readonly ServerResponse[]): void {
  connection.on("error", () => undefined);
  connection.destroy();
  for (const response of pending) response.destroy();
}

/** Pipelined requests get all their responses. */
function lastOfEachConnection(responses: Iterable<ServerResponse>): Iterable<ServerResponse> {
  const lastBySocket = new Map<Socket, ServerResponse>();
  for (const response of responses) lastBySocket.set(response.req.socket, response);
  return lastBySocket.values();
}

/**
 * Destroys a response that its client has not read `timeoutMs` after it was written: until then it occupies memory.
 * @param onTimeout called before the response is destroyed.
 */
export function closeIfUnread(response: ServerResponse, timeoutMs: number, onTimeout: () => void): void {
  // The operating system has accepted most responses completely by now.
  if (response.destroyed || response.writableLength === 0) return;
  const timer = setTimeout(() => {
    onTimeout();
    response.destroy();
  }, timeoutMs);
  response.once("close", () => clearTimeout(timer));
}
