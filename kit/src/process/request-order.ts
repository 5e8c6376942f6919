import type { RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Of a connection. More than any client pipelines: browsers send no request before the response to the one before. */
const waitingMax = 64;

export interface RequestOrder {
  readonly listener: RequestListener;
  /** Requests that wait for an earlier one on their connection. */
  countWaiting(): number;
}

/**
 * Serves the requests of a connection one after the other. Node passes on all that arrive in one read, some 1,800 small ones: while their client does
 * not read the first response, they would take places and memory that no limit of connections bounds. Above `waitingMax` the connection is closed.
 */
export function createRequestOrder(serve: RequestListener): RequestOrder {
  const lastOf = new WeakMap<Duplex, ServerResponse>();
  const waitingOf = new WeakMap<Duplex, number>();
  let waiting = 0;

  function add(socket: Duplex, count: 1 | -1): number {
    const ofConnection = (waitingOf.get(socket) ?? 0) + count;
    waitingOf.set(socket, ofConnection);
    waiting += count;
    return ofConnection;
  }

  return {
    listener(request, response) {
      const { socket } = request;
      if (socket.destroyed) return;
      const previous = lastOf.get(socket);
      lastOf.set(socket, response);
      if (previous === undefined || previous.closed) return serve(request, response);
      const ofConnection = add(socket, 1);
      previous.once("close", () => {
        add(socket, -1);
        if (!socket.destroyed) serve(request, response);
      });
      if (ofConnection > waitingMax) socket.destroy();
    },
    countWaiting: () => waiting,
  };
}
