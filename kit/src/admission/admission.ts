// Admission: which requests an overloaded process serves, at the point where their priority and caller are known. Used by the gateway, the REST proxy
// and the services. docs/overload.md explains the rules and the measurements behind them.
import { randomInt } from "node:crypto";
import { createCallerCosts } from "./caller-costs.ts";
import type { PriorityClass } from "./priority.ts";
import { type Starvation, watchStarvation } from "./starvation.ts";
import { createWaitingRequests, type TakeOrder, type WaitingRequests } from "./waiting-requests.ts";

export interface Admission {
  /**
   * Admits a request: at once while the process is not saturated, otherwise after a wait in which more important requests go first. Importance is the
   * priority class and, within a class, how little CPU time the caller has used recently. A request is rejected if it waits too long, or if the queue
   * is full of requests that are at least as important.
   * @param callerKey see `Caller.key` (caller/caller.ts).
   * @returns whether the request is admitted; a promise only if it waits. The code that calls `enter` must end each admitted request by `leave`.
   */
  enter(priority: PriorityClass, callerKey: string): boolean | Promise<boolean>;
  /** Ends an admitted request. @param cpuMs the CPU time that the request used, measured or estimated; 0 if unknown. */
  leave(callerKey: string, cpuMs: number): void;
  /** Stops `watchIterations`. Requests that wait are still admitted or rejected. */
  close(): void;
}

export interface AdmissionState {
  readonly inFlight: number;
  /** The number of requests that may be in flight; further requests wait. Not always a whole number. */
  readonly limit: number;
  readonly waiting: number;
}

export interface AdmissionOptions {
  /** False admits every request at once. */
  readonly isOn: boolean;
  /**
   * How long the oldest request in another queue of the process, such as for a thread, has waited, in milliseconds. It counts like the delay of the
   * event loop. Default: no such queue.
   */
  readonly queueDelayMs?: (() => number) | undefined;
  readonly observer?: AdmissionObserver | undefined;
  /** Default: of this process. Closed with the admission. */
  readonly starvation?: Starvation;
}

export interface AdmissionObserver {
  /** Called for every admitted request, so it has to take nanoseconds. */
  onAdmitted(priority: PriorityClass): void;
  /** `unread`: a request that is rejected before it is read, see `ServerOptions.requestsInFlightMax`. */
  onRejected(priority: PriorityClass | "unread"): void;
  /** Called once, when the admission is created. */
  expose(readState: () => AdmissionState): void;
}

/**
 * The delay of the event loop (how late a timer runs) above which the limit of requests in flight falls. Every request in flight waits for several
 * iterations of the loop, so this value decides the latency under overload.
 */
const delayMsMax = 5;
/** While requests wait, a timer of this time measures the delay. `setImmediate` instead would keep the core busy while the loop is idle. */
const tickMs = 1;
/** After a delay above `delayMsMax` the limit is multiplied by `decreaseFactor`, after a delay below half of it by `increaseFactor`. */
const decreaseFactor = 0.95;
const increaseFactor = 1.1;
const limitMin = 4;
/** While other processes take the core: with so many requests in flight, clients that each wait for a response do not wait for each other here. */
const limitMinStarved = 64;
/** The highest value that REQUESTS_IN_FLIGHT_MAX may have, so this number itself never makes a request wait. */
const limitMax = 1_000_000;
/** At the start. The limit rises within milliseconds if the event loop is idle. */
const limitInitial = 64;
/** The interval of `watchDelays`, which measures the delays while no request waits. */
const sampleEveryMs = 10;
/** A queue up to this length is short: served by class, then in the order of arrival. 32 clients that each wait for a response are no overload. */
const shortQueueMax = 32;
const shortQueueWaitMsMax = 10_000;
/** A long queue that is short again within this time (the interval of CoDel, RFC 8289, 4.2) is a burst: up to `burstMax` requests may wait. */
const burstMsMax = 250;
const burstMax = 1_024;
/**
 * A queue that is long for more than `burstMsMax` is standing, until it was short and rejected no request for `burstMsMax`. A standing queue has
 * `shortQueueMax` places: a further request that is not more important than a waiting one is rejected at once, since that costs the least. Of equally
 * important requests the newest is served first, because its client will wait for it the longest; the others are rejected after this time.
 */
const waitMsMax = 15;
/**
 * For critical requests in a standing queue, in place of `waitMsMax`. Within a bucket they are served in the order of arrival: without this limit,
 * all would be late if there are too many.
 */
const criticalWaitMsMax = 500;

export function createAdmission(options: AdmissionOptions): Admission {
  const { isOn, queueDelayMs = () => 0, observer } = options;
  const starvation = options.starvation ?? (isOn ? watchStarvation() : neverStarved);
  const callerCosts = createCallerCosts(() => performance.now(), randomInt(2 ** 32));
  const waiting = createWaitingRequests();
  let inFlight = 0;
  const limit = createLimit(isOn, starvation);
  /** Whether a timer for `tick` is set, which is so while requests wait. */
  let isTickScheduled = false;
  /** Whether `admitWaiting` is scheduled for this iteration of the event loop. */
  let isAdmittingScheduled = false;
  const queueState = createQueueState();

  /** Counts a request that is admitted or rejected now. @returns `isAdmitted`. */
  function countDecision(priority: PriorityClass, isAdmitted: boolean): boolean {
    if (isAdmitted) {
      inFlight++;
      observer?.onAdmitted(priority);
    } else observer?.onRejected(priority);
    return isAdmitted;
  }

  function wait(priority: PriorityClass, bucket: number): Promise<boolean> {
    return new Promise((resolve) => {
      const decide = (isAdmitted: boolean) => resolve(countDecision(priority, isAdmitted));
      const nowMs = performance.now();
      waiting.add(priority, bucket, { enteredMs: nowMs, decide });
      const queueMax = queueState.isStanding ? shortQueueMax : burstMax;
      // Even a standing queue drops a critical request only if more than `burstMax` of them wait.
      if (waiting.length > queueMax) waiting.drop(burstMax)?.decide(false);
      if (isTickScheduled) return;
      isTickScheduled = true;
      setTimeout(tick, tickMs, nowMs);
    });
  }

  /** @param scheduledMs when the timer of this call was set. */
  function tick(scheduledMs: number): void {
    const nowMs = performance.now();
    const loopDelayMs = nowMs - scheduledMs - tickMs;
    limit.adjust(Math.max(loopDelayMs, queueDelayMs()), inFlight);
    rejectExpired(waiting, queueState, nowMs);
    admitWaiting();
    queueState.update(waiting.length, nowMs);
    isTickScheduled = waiting.length > 0;
    if (isTickScheduled) setTimeout(tick, tickMs, nowMs);
  }

  function admitWaiting(): void {
    isAdmittingScheduled = false;
    for (let freePlaces = limit.value - inFlight; freePlaces > 0 && waiting.length > 0; freePlaces--) {
      const order = chooseOrder(waiting.length, queueState.isStanding);
      waiting.take(order)?.decide(true);
    }
  }

  /** Called when the event loop, or the other queue, is late. While requests wait, `tick` measures the delay and adjusts the limit instead. */
  function lowerLimitIfNoneWaits(): void {
    // The limit may be far above the number of requests in flight. It falls below this number, so that further requests wait.
    if (waiting.length === 0) limit.adjust(Infinity, inFlight);
  }

  observer?.expose(() => ({ inFlight, limit: limit.value, waiting: waiting.length }));
  const stopWatching = isOn ? watchDelays(queueDelayMs, starvation, lowerLimitIfNoneWaits) : () => {};
  return {
    enter(priority, callerKey) {
      const isUnsaturated = inFlight < limit.value && waiting.length === 0;
      if (isUnsaturated) return countDecision(priority, true);
      const bucket = callerCosts.bucketOf(callerKey);
      const queueHasPlace = !queueState.isStanding || waiting.length < shortQueueMax;
      if (queueHasPlace || waiting.outranks(priority, bucket)) return wait(priority, bucket);
      return countDecision(priority, false);
    },
    leave(callerKey, cpuMs) {
      inFlight--;
      if (cpuMs > 0) callerCosts.add(callerKey, cpuMs);
      if (waiting.length === 0 || isAdmittingScheduled) return;
      isAdmittingScheduled = true;
      setImmediate(admitWaiting);
    },
    close: stopWatching,
  };
}

const neverStarved: Starvation = { isStarved: () => false, close: () => {} };

/** The limit of requests in flight, which follows the delay of the event loop or of the other queue, whichever is longer. */
function createLimit(isOn: boolean, starvation: Starvation) {
  let limit = isOn ? limitInitial : Infinity;
  return {
    get value() {
      return limit;
    },
    adjust(delayMs: number, inFlight: number): void {
      if (delayMs > delayMsMax) {
        const usedLimit = Math.min(limit, inFlight);
        limit = Math.max(starvation.isStarved() ? limitMinStarved : limitMin, usedLimit * decreaseFactor);
      } else if (delayMs < delayMsMax / 2) {
        limit = Math.min(limit * increaseFactor, limitMax);
      }
    },
  };
}

/** A short queue ignores the caller's bucket, which varies with its CPU time: later requests of a caller could overtake its older ones. */
function chooseOrder(length: number, isStanding: boolean): TakeOrder {
  if (isStanding) return "newest";
  return length > shortQueueMax ? "oldest" : "arrival";
}

/** Rejects the requests that have waited too long. */
function rejectExpired(waiting: WaitingRequests, queueState: QueueState, nowMs: number): void {
  const enteredBeforeMs = nowMs - (queueState.isStanding ? waitMsMax : shortQueueWaitMsMax);
  const criticalEnteredBeforeMs = nowMs - (queueState.isStanding ? criticalWaitMsMax : shortQueueWaitMsMax);
  let expired = waiting.takeExpired(enteredBeforeMs, criticalEnteredBeforeMs);
  while (expired !== undefined) {
    expired.decide(false);
    queueState.recordRejection(nowMs);
    expired = waiting.takeExpired(enteredBeforeMs, criticalEnteredBeforeMs);
  }
}

interface QueueState {
  /** See `burstMsMax` and `waitMsMax`. */
  readonly isStanding: boolean;
  /** @param length the number of requests that wait now. */
  update(length: number, nowMs: number): void;
  recordRejection(nowMs: number): void;
}

function createQueueState(): QueueState {
  let isStanding = false;
  /** Infinity while the queue is short. */
  let longSinceMs = Infinity;
  /** When the queue was last long or a request was rejected because it had waited too long. */
  let lastOverloadMs = -Infinity;
  return {
    get isStanding() {
      return isStanding;
    },
    update(length: number, nowMs: number): void {
      // Not `>`: a full standing queue has exactly this length.
      const isLong = length >= shortQueueMax;
      if (isLong) {
        longSinceMs = Math.min(longSinceMs, nowMs);
        lastOverloadMs = nowMs;
      } else {
        longSinceMs = Infinity;
      }
      if (isStanding) isStanding = nowMs - lastOverloadMs <= burstMsMax;
      else isStanding = nowMs - longSinceMs > burstMsMax;
    },
    recordRejection(nowMs: number): void {
      lastOverloadMs = nowMs;
    },
  };
}

/**
 * @param onLate called after the second of two samples with a long delay: a single one, such as by a garbage collection, is no overload.
 * @returns a function that stops the watch, also that of starvation.
 */
function watchDelays(queueDelayMs: () => number, starvation: Starvation, onLate: () => void): () => void {
  let sampledMs = performance.now();
  let wasLate = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const loopDelayMs = nowMs - sampledMs - sampleEveryMs;
    const isLate = Math.max(loopDelayMs, queueDelayMs()) > delayMsMax;
    sampledMs = nowMs;
    // Called also when the loop is not late, so that each window begins in time.
    starvation.isStarved();
    if (isLate && wasLate) onLate();
    wasLate = isLate;
  }, sampleEveryMs).unref();
  return () => {
    clearInterval(timer);
    starvation.close();
  };
}
