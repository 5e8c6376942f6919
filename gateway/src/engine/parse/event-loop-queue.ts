// Stages 1 to 5: one large body is parsed, or one new document validated or planned, or its first result written, in each iteration of the event loop.

/** Resolves when it is the turn of this call. Clients take turns; the documents of one client keep their order. */
export type NextIteration = (client: string) => Promise<void>;

/** Shorter steps are no delay for other requests. */
const longStepMs = 2;
const restMsMax = 50;

/**
 * One promise resolves in each iteration, never in that of its call: requests for stored operations wait for one new document (some 15 ms for the
 * longest allowed), however many clients send one. They need several iterations, so after a long step the queue rests for as long as that took: new
 * documents get at most half of the main thread. The queue is at most as long as there are requests in flight.
 */
export function createEventLoopQueue(): NextIteration {
  /** In rotation: the first client is next. */
  const waiting = new Map<string, (() => void)[]>();
  let isScheduled = false;
  let stepStartedMs = 0;
  let restEndsAtMs = 0;

  function schedule(): void {
    isScheduled = true;
    const restMs = restEndsAtMs - performance.now();
    if (restMs > 0) setTimeout(runStep, restMs);
    else runStep();
  }

  /** The step consists of the microtasks between the two callbacks. */
  function runStep(): void {
    setImmediate(resolveNext);
    setImmediate(endStep);
  }

  function endStep(): void {
    const endedMs = performance.now();
    const tookMs = endedMs - stepStartedMs;
    if (tookMs > longStepMs) restEndsAtMs = endedMs + Math.min(tookMs, restMsMax);
    if (waiting.size > 0) schedule();
    else isScheduled = false;
  }

  function resolveNext(): void {
    stepStartedMs = performance.now();
    const [first] = waiting;
    if (first) {
      const [client, resolves] = first;
      waiting.delete(client);
      const resolve = resolves.shift();
      if (resolves.length > 0) waiting.set(client, resolves);
      resolve?.();
    }
  }

  return (client) =>
    new Promise((resolve) => {
      const resolves = waiting.get(client);
      if (resolves) resolves.push(resolve);
      else waiting.set(client, [resolve]);
      if (!isScheduled) schedule();
    });
}
