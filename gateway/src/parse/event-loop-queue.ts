// Stages 1 to 3 of 5: large bodies and unknown documents are read, validated and planned one in each iteration of the event loop.

/**
 * Resolves when the client is next. Clients are taken in rotation, so a client with many documents delays the document of another client by one
 * iteration. The documents of one client keep their order.
 * @param client the caller's key: user, client key or address.
 */
export type NextIteration = (client: string) => Promise<void>;

/**
 * In each iteration, one of the returned function's pending promises resolves, and none in the iteration of its call. Requests for known operations
 * are served in between: they wait for one unknown document (some 15 ms for the longest allowed), however many clients send one at the same time.
 * Only the number of requests in flight limits that of pending promises.
 */
export function createEventLoopQueue(): NextIteration {
  /** In rotation: the first client is next. A client is in the map while it waits. */
  const waiting = new Map<string, (() => void)[]>();
  let isScheduled = false;

  function next(): void {
    for (const [client, resolves] of waiting) {
      waiting.delete(client);
      const resolve = resolves.shift();
      if (resolves.length > 0) waiting.set(client, resolves);
      resolve?.();
      break;
    }
    if (waiting.size > 0) setImmediate(next);
    else isScheduled = false;
  }

  return (client) =>
    new Promise((resolve) => {
      const resolves = waiting.get(client);
      if (resolves) resolves.push(resolve);
      else waiting.set(client, [resolve]);
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(next);
    });
}
