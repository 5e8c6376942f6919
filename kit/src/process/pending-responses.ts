import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { InFlightList } from "../collections/in-flight-list.ts";

/** Responses that are not complete, also to requests that are still arriving. */
export interface PendingResponseList {
  /** Before the head of the response is written. */
  add(response: ServerResponse): void;
  /**
   * From now on the last pending response of each connection, and every later one, has `Connection: close` (RFC 9112, 9.6), so that no client sends a
   * request on a connection that is about to be closed.
   */
  closeConnections(): void;
  count(): number;
  ofConnection(connection: Duplex): readonly ServerResponse[];
  /** Once no response to a completely received request is pending. */
  settled(): Promise<void>;
  /** Closes their connections, also one with a CONNECT, of which Node's server knows nothing any more. */
  abort(): void;
}

export function createPendingResponseList(): PendingResponseList {
  const pending = new InFlightList<ServerResponse>();
  let isClosing = false;

  return {
    add(response) {
      const entry = pending.add(response);
      response.on("close", () => pending.remove(entry));
      if (isClosing) response.shouldKeepAlive = false;
    },
    closeConnections() {
      isClosing = true;
      for (const response of lastOfEachConnection(pending.items())) response.shouldKeepAlive = false;
    },
    count: () => pending.size,
    ofConnection: (connection) => pending.items().filter(({ req }) => req.socket === connection),
    abort() {
      for (const { req } of pending.items()) req.socket.destroy();
    },
    async settled() {
      for (;;) {
        const complete = pending.items().filter(({ req }) => req.complete);
        if (complete.length === 0) return;
        await Promise.all(complete.map((response) => once(response, "close")));
      }
    },
  };
}

/** Pipelined requests get all their responses. */
function lastOfEachConnection(responses: Iterable<ServerResponse>): Iterable<ServerResponse> {
  const lastBySocket = new Map<Socket, ServerResponse>();
  for (const response of responses) lastBySocket.set(response.req.socket, response);
  return lastBySocket.values();
}
