import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Of a connection. More than any client pipelines: browsers send no request before the response to the one before. */
const waitingMax = 64;
/** As so many requests counts one with a body, of which Node reads up to 64 KB. */
const bodyWeight = 16;

export interface RequestOrder {
  /** @param previous the pending response to the request before this one on its connection. */
  serve(request: IncomingMessage, response: ServerResponse, previous: ServerResponse | undefined): void;
  /** Requests that wait for an earlier one on their connection. */
  countWaiting(): number;
}

/**
 * Serves the requests of a connection one after the other. Node passes on all that arrive in one read, some 1,800 small ones: while their client does
 * not read the first response, they would take places and memory that no limit of connections bounds. Above `waitingMax` the connection is closed.
 */
export function createRequestOrder(listener: RequestListener): RequestOrder {
  const weightOf = new WeakMap<Duplex, number>();
  let waiting = 0;

  function add(socket: Duplex, weight: number): number {
    const total = (weightOf.get(socket) ?? 0) + weight;
    weightOf.set(socket, total);
    waiting += Math.sign(weight);
    return total;
  }

  function wait(request: IncomingMessage, response: ServerResponse, previous: ServerResponse): void {
    const { socket } = request;
    const weight = hasBody(request) ? bodyWeight : 1;
    const total = add(socket, weight);
    // Bound, since it is called in the asynchronous context of the earlier request.
    const serveNext = AsyncLocalStorage.bind(() => {
      add(socket, -weight);
      // After a response with `Connection: close` nothing is processed (RFC 9112, 9.6).
      if (!socket.writable) return;
      // What the earlier request has set. Node resets it only if no request waits.
      socket.setTimeout(0);
      listener(request, response);
    });
    previous.once("close", serveNext);
    if (total > waitingMax) socket.destroy();
  }

  return {
    serve(request, response, previous) {
      if (previous) wait(request, response, previous);
      else listener(request, response);
    },
    countWaiting: () => waiting,
  };
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
