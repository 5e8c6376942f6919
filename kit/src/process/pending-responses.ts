import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { InFlightList } from "../collections/in-flight-list.ts";

/** The answers that a server is making. */
export interface PendingResponseList {
  /** Has to be told of every response before anything is written to it. */
  add(response: ServerResponse): void;
  /**
   * From now on each answer whose head is not written yet says `Connection: close`, also where its request came before (RFC 9112, 9.6): the
   * client goes elsewhere by itself, and never sends a request into a connection that is about to be closed.
   */
  makeLast(): void;
  /** Those of one connection, in the order of their requests. */
  ofConnection(connection: Duplex): readonly ServerResponse[];
  /** Resolves once no response to a completely received request is pending. */
  settled(): Promise<void>;
}

export function createPendingResponseList(): PendingResponseList {
  const owed = new InFlightList<ServerResponse>();
  let areLast = false;

  return {
    add(response) {
      const entry = owed.add(response);
      response.on("close", () => owed.remove(entry));
      if (areLast) response.shouldKeepAlive = false;
    },
    makeLast() {
      areLast = true;
      for (const response of lastOfEach(owed.items())) response.shouldKeepAlive = false;
    },
    ofConnection: (connection) => owed.items().filter(({ req }) => req.socket === connection),
    async settled() {
      for (;;) {
        const complete = owed.items().filter(({ req }) => req.complete);
        if (complete.length === 0) return;
        await Promise.all(complete.map((response) => once(response, "close")));
      }
    },
  };
}

/** Requests that were sent without waiting for answers get all of these: only the last ends the connection. */
function lastOfEach(responses: Iterable<ServerResponse>): Iterable<ServerResponse> {
  const bySocket = new Map<Socket, ServerResponse>();
  for (const response of responses) bySocket.set(response.req.socket, response);
  return bySocket.values();
}
