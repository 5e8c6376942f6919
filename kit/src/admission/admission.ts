// Admission: which requests an overloaded process serves, at the point where their priority and caller are known. Used by the gateway, the REST proxy
// and the services. docs/overload.md explains the rules and the measurements behind them.
import { randomInt } from "node:crypto";
import { createCallerCosts } from "./caller-costs.ts";
import type { PriorityClass } from "./priority.ts";
import { createWaitingRequests, type TakeOrder } from "./waiting-requests.ts";

export interface Admission {
  /**
   * Admits a request: at once while the process is not saturated, otherwise after a wait in which more important requests go first. Importance is the
   * priority class and, within a class, how little CPU time the caller has used recently. A request is rejected if it waits too long, or if the queue
   * is full of requests that are at least as important.
   * @param callerKey see `Caller.key`.
   * @returns whether the request is admitted; a promise only if it waits. The caller must end each admitted request by `leave`.
   */
  enter(priority: PriorityClass, callerKey: string): boolean | Promise<boolean>;
  /** Ends an admitted request. @param cpuMs the CPU time that the request used, measured or estimated; 0 if unknown. */
  leave(callerKey: string, cpuMs: number): void;
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
  readonly observer?: AdmissionObserver | undefined;
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
const loopDelayMsMax = 5;
/** While requests wait, a timer of this time measures the delay. `setImmediate` instead would keep the core busy while the loop is idle. */
const tickMs = 1;
/** The limit is multiplied by `decrease` after a delay above `loopDelayMsMax`, and by `increase` after a delay below half of `loopDelayMsMax`. */
const decrease = 0.95;
const increase = 1.1;
const limitMin = 4;
/** The highest possible REQUESTS_IN_FLIGHT_MAX, so that only the event loop limits the requests in flight. */
const limitMax = 1_000_000;
/** At the start. The limit rises within milliseconds if the event loop is idle. */
const limitInitial = 64;
/** The interval of `watchIterations`, which measures the delay while no request waits. */
const sampleEveryMs = 10;
/** A queue up to this length is short: served by class, then in the order of arrival. 32 clients that each wait for a response are no overload. */
const shortQueueMax = 32;
const shortQueueWaitMsMax = 1_000;
/** A long queue that is short again within this time (the interval of CoDel, RFC 8289, 4.2) is a burst: up to `burstMax` requests may wait. */
const burstMsMax = 250;
const burstMax = 1_024;
/**
 * A queue that is long for more than `burstMsMax` is standing, until it was short and rejected no request for `burstMsMax`. A standing queue has
 * `shortQueueMax` places: a further request that is not more important than a waiting one is rejected at once, since that costs the least. Of equally
 * important requests the newest is served first, because its client will wait for it the longest; the others are rejected after this time.
 */
const waitMsMax = 15;
/** Critical requests of one bucket are served in the order of arrival. Without this limit, all would be late if there are too many. */
const criticalWaitMsMax = 500;

export function createAdmission({ isOn, observer }: AdmissionOptions): Admission {
  const costs = createCallerCosts(() => performance.now(), randomInt(2 ** 32));
  const waiting = createWaitingRequests();
  let inFlight = 0;
  const limit = createLimit(isOn);
  /** Whether a timer for `tick` is set, which is so while requests wait. */
  let isTicking = false;
  /** Whether `admitWaiting` is scheduled for this iteration of the event loop. */
  let isRefilling = false;
  const queueState = createStandingCheck();

  /** Counts a request that is admitted or rejected now. @returns `isAdmitted`. */
  function settle(priority: PriorityClass, isAdmitted: boolean): boolean {
    if (isAdmitted) {
      inFlight++;
      observer?.onAdmitted(priority);
    } else observer?.onRejected(priority);
    return isAdmitted;
  }

  function wait(priority: PriorityClass, bucket: number): Promise<boolean> {
    return new Promise((resolve) => {
      const decide = (isAdmitted: boolean) => resolve(settle(priority, isAdmitted));
      const nowMs = performance.now();
      waiting.add(priority, bucket, { enteredMs: nowMs, decide });
      if (waiting.length > (queueState.isStanding ? shortQueueMax : burstMax)) waiting.drop(burstMax)?.decide(false);
      if (isTicking) return;
      isTicking = true;
      setTimeout(tick, tickMs, nowMs);
    });
  }

  function tick(startedMs: number): void {
    const nowMs = performance.now();
    limit.adjust(nowMs - startedMs - tickMs, inFlight);
    rejectExpired(nowMs);
    admitWaiting();
    queueState.note(waiting.length, nowMs);
    isTicking = waiting.length > 0;
    if (isTicking) setTimeout(tick, tickMs, nowMs);
  }

  function admitWaiting(): void {
    isRefilling = false;
    for (let free = limit.value - inFlight; free > 0 && waiting.length > 0; free--)
      waiting.take(chooseOrder(waiting.length, queueState.isStanding))?.decide(true);
  }

  function rejectExpired(nowMs: number): void {
    const enteredMs = nowMs - (queueState.isStanding ? waitMsMax : shortQueueWaitMsMax);
    const criticalEnteredMs = nowMs - (queueState.isStanding ? criticalWaitMsMax : shortQueueWaitMsMax);
    const next = () => waiting.takeExpired(enteredMs, criticalEnteredMs);
    for (let expired = next(); expired; expired = next()) {
      expired.decide(false);
      queueState.noteOverload(nowMs);
    }
  }

  observer?.expose(() => ({ inFlight, limit: limit.value, waiting: waiting.length }));
  return {
    enter(priority, callerKey) {
      if (inFlight < limit.value && waiting.length === 0) return settle(priority, true);
      const bucket = costs.bucketOf(callerKey);
      if (!queueState.isStanding || waiting.length < shortQueueMax || waiting.outranks(priority, bucket))
        return wait(priority, bucket);
      return settle(priority, false);
    },
    leave(callerKey, cpuMs) {
      inFlight--;
      if (cpuMs > 0) costs.add(callerKey, cpuMs);
      if (waiting.length === 0 || isRefilling) return;
      isRefilling = true;
      setImmediate(admitWaiting);
    },
    // The watch starts here, and `close` stops it. While no request waits, `tick` does not run and the limit may be far above the number of requests
    // in flight. If the event loop is late, the limit falls below this number, so that further requests wait.
    close: isOn ? watchIterations(() => waiting.length === 0 && limit.adjust(Infinity, inFlight)) : () => {},
  };
}

/** The limit of requests in flight, which follows the delay of the event loop. */
function createLimit(isOn: boolean) {
  let limit = isOn ? limitInitial : Infinity;
  return {
    get value() {
      return limit;
    },
    adjust(loopDelayMs: number, inFlight: number): void {
      if (loopDelayMs > loopDelayMsMax) limit = Math.max(limitMin, Math.min(limit, inFlight) * decrease);
      else if (loopDelayMs < loopDelayMsMax / 2) limit = Math.min(limit * increase, limitMax);
    },
  };
}

/** A short queue ignores the caller's bucket, which varies with its CPU time: later requests of a caller could overtake its older ones. */
function chooseOrder(length: number, isStanding: boolean): TakeOrder {
  if (isStanding) return "newest";
  return length > shortQueueMax ? "oldest" : "arrival";
}

/** Whether the queue is standing: see `burstMsMax` and `waitMsMax`. */
function createStandingCheck() {
  let isStanding = false;
  /** Infinity while the queue is short. */
  let longSinceMs = Infinity;
  let lastOverloadMs = -Infinity;
  return {
    get isStanding() {
      return isStanding;
    },
    note(length: number, nowMs: number): void {
      const isLong = length >= shortQueueMax;
      longSinceMs = isLong ? Math.min(longSinceMs, nowMs) : Infinity;
      if (isLong) lastOverloadMs = nowMs;
      isStanding = isStanding ? nowMs - lastOverloadMs <= burstMsMax : nowMs - longSinceMs > burstMsMax;
    },
    noteOverload(nowMs: number): void {
      lastOverloadMs = nowMs;
    },
  };
}

/** @param onLate called after the second of two long iterations of the event loop: a single one, such as a garbage collection, is no overload. */
function watchIterations(onLate: () => void): () => void {
  let sampledMs = performance.now();
  let wasLate = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const isLate = nowMs - sampledMs - sampleEveryMs > loopDelayMsMax;
    sampledMs = nowMs;
    if (isLate && wasLate) onLate();
    wasLate = isLate;
  }, sampleEveryMs).unref();
  return () => clearInterval(timer);
}
