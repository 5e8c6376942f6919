/** A queue up to this length is short: served by class, then in the order of arrival. */
export const shortQueueMax = 32;
/** A long queue that is short again within this time (the interval of CoDel, RFC 8289, 4.2), or at least a quarter shorter, is a burst. */
const burstMsMax = 250;
/**
 * In 250 ms a process serves a quarter of the requests only of a queue that takes a second. A longer one stands, whatever arrives. A client that is
 * rejected would wait as long before it sends its request again (`Retry-After`).
 */
const shorterShare = 0.75;

/** A queue that remains long. It stands until it was short and rejected none for `burstMsMax`. */
export interface StandingQueue {
  readonly isStanding: boolean;
  /** To be called every few milliseconds while the queue is not empty, and once when it is. */
  update(length: number, nowMs: number): void;
  recordRejection(nowMs: number): void;
}

export function createStandingQueue(): StandingQueue {
  let isStanding = false;
  /** Infinity while the queue is short. */
  let longSinceMs = Infinity;
  /** The greatest since then. */
  let peak = 0;
  let lastOverloadMs = -Infinity;

  function isStandingAfter(length: number, nowMs: number): boolean {
    if (isStanding) return nowMs - lastOverloadMs <= burstMsMax;
    if (nowMs - longSinceMs <= burstMsMax) return false;
    if (length > peak * shorterShare) return true;
    longSinceMs = nowMs;
    peak = length;
    return false;
  }

  return {
    get isStanding() {
      return isStanding;
    },
    update(length, nowMs) {
      // Not `>`: a full standing queue has exactly this length.
      const isLong = length >= shortQueueMax;
      if (isLong) {
        peak = longSinceMs === Infinity ? length : Math.max(peak, length);
        longSinceMs = Math.min(longSinceMs, nowMs);
        lastOverloadMs = nowMs;
      } else {
        longSinceMs = Infinity;
      }
      isStanding = isStandingAfter(length, nowMs);
    },
    recordRejection(nowMs) {
      lastOverloadMs = nowMs;
    },
  };
}
