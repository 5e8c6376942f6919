// Stages 1 to 3 of 5: one large body is parsed, or one new document validated or planned, in each iteration of the event loop.

/** Resolves when it is the turn of this call. Clients take turns; the documents of one client keep their order. */
export type NextIteration = (client: string) => Promise<void>;

/**
 * One promise resolves in each iteration, never in that of its call: requests for stored operations wait for one new document (some 15 ms for the
 * longest allowed), however many clients send one. The queue is at most as long as there are requests in flight.
 */
export function createEventLoopQueue(): NextIteration {
  /** In rotation: the first client is next. */
  const waiting = new Map<string, (() => void)[]>();
  let isScheduled = false;

  function resolveNext(): void {
    const [first] = waiting;
    if (first) {
      const [client, resolves] = first;
      waiting.delete(client);
      const resolve = resolves.shift();
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
