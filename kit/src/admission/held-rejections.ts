// Rejections that wait. A client cannot send its next request on an HTTP/1.1 connection before it has the response, so a rejection that waits keeps the
// connection from costing anything: 3,000 connections send at most 3,000 rejected requests a second, however fast their clients repeat them.
import type { ServerResponse } from "node:http";

/** A rejection takes at most a tenth of a millisecond: up to this rate they take a tenth of a core, and none waits. */
const immediatePerSecond = 1_000;
/** As long as `Retry-After`. */
const waitMsMax = 1_000;
/** So many responses are sent in one iteration of the event loop at most, so that served requests do not wait for them. */
const flushMs = 5;
/** Each retains some 20 KB. Further ones are sent at once. */
const heldMax = 10_000;

export interface HeldRejections {
  /** Calls `send` at once, or within a second if there are many rejections. The client may have disconnected by then. */
  hold(response: ServerResponse, send: () => void): void;
  /** Of clients that have not disconnected. */
  count(): number;
}

interface HeldRejection {
  readonly dueMs: number;
  /** Until it is sent, or its client disconnects. */
  isWaiting: boolean;
  readonly send: () => void;
}

/** A leaky bucket: each rejection waits until those before it have taken their share of the core. */
export function createHeldRejections(nowMs: () => number = () => performance.now()): HeldRejections {
  /** Ascending by `dueMs`. */
  let held: HeldRejection[] = [];
  let sent = 0;
  let waiting = 0;
  let freeAtMs = 0;
  let isTimerSet = false;

  function stopWaiting(rejection: HeldRejection): void {
    if (rejection.isWaiting) waiting--;
    rejection.isWaiting = false;
  }

  function flush(): void {
    const now = nowMs();
    for (let next = held[sent]; next !== undefined && next.dueMs <= now; next = held[sent]) {
      sent++;
      stopWaiting(next);
      next.send();
    }
    if (sent * 2 >= held.length) {
      held = held.slice(sent);
      sent = 0;
    }
    isTimerSet = held.length > 0;
    if (isTimerSet) setTimeout(flush, flushMs);
  }

  return {
    hold(response, send) {
      const now = nowMs();
      freeAtMs = Math.min(Math.max(freeAtMs, now) + 1_000 / immediatePerSecond, now + waitMsMax);
      const count = held.length - sent;
      if ((count === 0 && freeAtMs - now <= flushMs) || count >= heldMax) return send();
      // Its client may have disconnected while the request waited for admission.
      const rejection: HeldRejection = { dueMs: freeAtMs, isWaiting: !response.closed, send };
      held.push(rejection);
      if (rejection.isWaiting) waiting++;
      response.once("close", () => stopWaiting(rejection));
      if (!isTimerSet) setTimeout(flush, flushMs);
      isTimerSet = true;
    },
    count: () => waiting,
  };
}
