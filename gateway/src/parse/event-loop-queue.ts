// Stages 1 to 3 of 5: the gateway parses one large body, or validates or plans one new document, in each iteration of the event loop. paths/receive.ts
// (bodies) and supergraph/apollo-validation.ts (documents) wait for this queue.

/**
 * Resolves when it is the turn of this call. Clients take turns, so a client with many documents delays the document of another client by one
 * iteration. The documents of one client keep their order.
 * @param client the caller's key: user, client key or address.
 */
export type NextIteration = (client: string) => Promise<void>;

/**
 * One pending promise of the returned function resolves in each iteration, never in the iteration of its call. Requests for stored operations
 * are served in between: they wait for one new document (some 15 ms for the longest allowed), however many clients send one at the same time.
 * The queue has no limit: it is as long as there are requests in flight, at most.
 */
export function createEventLoopQueue(): NextIteration {
  /** The functions that resolve a client's pending promises. In rotation: the first client is next. A client is in the map while it waits. */
  const waiting = new Map<string, (() => void)[]>();
  let isScheduled = false;

  function resolveNext(): void {
    const [first] = waiting;
    if (first) {
      const [client, resolves] = first;
      waiting.delete(client);
      const resolve = resolves.shift();
      // The client moves to the end of the rotation.
      if (resolves.length > 0) waiting.set(client, resolves);
      resolve?.();
    }
    if (waiting.size > 0) setImmediate(resolveNext);
    else isScheduled = false;
  }

  return (client) =>
    new Promise((resolve) => {
      const resolves = waiting.get(client);
      if (resolves) resolves.push(resolve);
      else waiting.set(client, [resolve]);
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(resolveNext);
    });
}
