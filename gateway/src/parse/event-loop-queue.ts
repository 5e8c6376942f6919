// Stage 2 of 5: parse. Unknown documents are parsed and validated one in each iteration of the event loop.

/**
 * Returns a function whose promise resolves for one caller in each iteration, in the order of the calls, and never in the current iteration.
 * Requests for known operations are served in between: they wait for one unknown document (some 15 ms for the longest allowed), however many
 * clients send one at the same time. The number of callers is limited only by the number of requests in flight.
 */
export function createEventLoopQueue(): () => Promise<void> {
  const waiting: (() => void)[] = [];

  function next(): void {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  }

  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
}
