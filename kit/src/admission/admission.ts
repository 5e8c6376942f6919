// Which requests an overloaded process serves. docs/overload.md explains the rules and the measurements behind them.
import { randomInt } from "node:crypto";
import { createCallerCosts } from "./caller-costs.ts";
import type { PriorityClass } from "./priority.ts";
import { createStandingQueue, shortQueueMax, type StandingQueue } from "./standing-queue.ts";
import { type Starvation, watchStarvation } from "./starvation.ts";
import { createWaitingRequests, type TakeOrder, type WaitingRequests } from "./waiting-requests.ts";

export interface Admission {
  /**
   * Admits a request at once while the process is not saturated, else after a wait in which more important requests go first: by priority class and,
   * within a class, by how little CPU time the caller has used recently. Rejects it if it waits too long, or if the queue is full of requests that
   * are at least as important. Each admitted request must be ended by `leave`.
   * @param endsAtMs when its client stops waiting, by `performance.now`: a request that waits until then is rejected.
   * @returns a promise only if the request waits.
   */
  enter(priority: PriorityClass, callerKey: string, endsAtMs?: number): boolean | Promise<boolean>;
  /** @param cpuMs measured or estimated; 0 if unknown. */
  leave(callerKey: string, cpuMs: number): void;
  readState(): AdmissionState;
  /** Requests that wait are still admitted or rejected. */
  close(): void;
}

export interface AdmissionState {
  readonly inFlight: number;
  /** Not always a whole number; Infinity if admission is off. */
  readonly limit: number;
  readonly waiting: number;
}

export interface AdmissionOptions {
  readonly isOn: boolean;
  /** How long the oldest request in another queue, such as for a thread, has waited. Counts like the delay of the event loop. */
  readonly queueDelayMs?: (() => number) | undefined;
  readonly observer?: AdmissionObserver | undefined;
  readonly starvation?: Starvation;
}

export interface AdmissionObserver {
  /** Called for every admitted request, so it has to take nanoseconds. */
  onAdmitted(priority: PriorityClass): void;
  /** `unread`: rejected before it is read. */
  onRejected(priority: PriorityClass | "unread"): void;
  expose(readState: () => AdmissionState): void;
}

/** How late a timer runs before the limit falls. A request waits for several iterations of the loop, so this decides the latency under overload. */
const delayMsMax = 5;
/** While requests wait, a timer of this time measures the delay. `setImmediate` would keep the core busy while the loop is idle. */
const tickMs = 1;
const decreaseFactor = 0.95;
const increaseFactor = 1.1;
const limitMin = 4;
/** At the start, and while other processes take the core: so many clients that each wait for a response do not wait for each other here. */
const limitUnlessSaturated = 64;
/** While no request waits. */
const sampleEveryMs = 10;
/** Of any class, while the queue is not standing: a slow service keeps the places of a low limit. As long as a service's own time by default. */
const shortQueueWaitMsMax = 10_000;
/** Of all classes. A bound of memory: critical requests have no other, and an embedded gateway has no REQUESTS_IN_FLIGHT_MAX. */
const waitingMax = 4_000;
/**
 * A standing queue has `shortQueueMax` places: rejecting a further request at once costs the least. Of equally important requests the newest is served
 * first, because its client will wait for it the longest; the others are rejected after this time.
 */
const waitMsMax = 15;
/** Critical requests are served in the order of arrival: without this limit, all would be late if there are too many. */
const criticalWaitMsMax = 500;

export function createAdmission(options: AdmissionOptions): Admission {
  const { isOn, queueDelayMs = () => 0, observer } = options;
  const starvation = options.starvation ?? (isOn ? watchStarvation() : neverStarved);
  const callerCosts = createCallerCosts(() => performance.now(), randomInt(2 ** 32));
  const waiting = createWaitingRequests();
  let inFlight = 0;
  const limit = createLimit(isOn, starvation);
  let isTickScheduled = false;
  let isAdmittingScheduled = false;
  const queue = createStandingQueue();

  function countDecision(priority: PriorityClass, isAdmitted: boolean): boolean {
    if (isAdmitted) {
      inFlight++;
      observer?.onAdmitted(priority);
    } else observer?.onRejected(priority);
    return isAdmitted;
  }

  function wait(priority: PriorityClass, bucket: number, endsAtMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const decide = (isAdmitted: boolean) => resolve(countDecision(priority, isAdmitted));
      const nowMs = performance.now();
      waiting.add(priority, bucket, { enteredMs: nowMs, endsAtMs, decide });
      if (queue.isStanding && waiting.length > shortQueueMax) waiting.drop()?.decide(false);
      if (isTickScheduled) return;
      isTickScheduled = true;
      setTimeout(tick, tickMs, nowMs);
    });
  }

  function tick(scheduledMs: number): void {
    const nowMs = performance.now();
    const loopDelayMs = nowMs - scheduledMs - tickMs;
    limit.adjust(Math.max(loopDelayMs, queueDelayMs()), inFlight);
    rejectExpired(waiting, queue, nowMs);
    admitWaiting();
    queue.update(waiting.length, nowMs);
    isTickScheduled = waiting.length > 0;
    if (isTickScheduled) setTimeout(tick, tickMs, nowMs);
  }

  function admitWaiting(): void {
    isAdmittingScheduled = false;
    for (let freePlaces = limit.value - inFlight; freePlaces > 0 && waiting.length > 0; freePlaces--) {
      const order = chooseOrder(waiting.length, queue.isStanding);
      waiting.take(order)?.decide(true);
    }
  }

  function lowerLimitIfNoneWaits(): void {
    // The limit may be far above the number of requests in flight, and falls below it.
    if (waiting.length === 0) limit.adjust(Infinity, inFlight);
  }

  const readState = (): AdmissionState => ({ inFlight, limit: limit.value, waiting: waiting.length });
  observer?.expose(readState);
  return {
    enter(priority, callerKey, endsAtMs = Infinity) {
      if (inFlight < limit.value && waiting.length === 0) return countDecision(priority, true);
      if (waiting.length >= waitingMax) return countDecision(priority, false);
      const bucket = callerCosts.bucketOf(callerKey);
      const queueHasPlace = !queue.isStanding || waiting.length < shortQueueMax;
      if (queueHasPlace || waiting.outranks(priority, bucket)) return wait(priority, bucket, endsAtMs);
      return countDecision(priority, false);
    },
    leave(callerKey, cpuMs) {
      inFlight--;
      if (cpuMs > 0) callerCosts.add(callerKey, cpuMs);
      if (waiting.length === 0 || isAdmittingScheduled) return;
      isAdmittingScheduled = true;
      setImmediate(admitWaiting);
    },
    readState,
    close: isOn ? watchDelays(queueDelayMs, starvation, lowerLimitIfNoneWaits) : () => {},
  };
}

const neverStarved: Starvation = { isStarved: () => false, close: () => {} };

function createLimit(isOn: boolean, starvation: Starvation) {
  let limit = isOn ? limitUnlessSaturated : Infinity;
  return {
    get value() {
      return limit;
    },
    adjust(delayMs: number, inFlight: number): void {
      if (delayMs > delayMsMax) {
        const usedLimit = Math.min(limit, inFlight);
        limit = Math.max(starvation.isStarved() ? limitUnlessSaturated : limitMin, usedLimit * decreaseFactor);
      } else if (delayMs < delayMsMax / 2) limit *= increaseFactor;
    },
  };
}

/** A short queue ignores the caller's bucket, which varies with its CPU time: later requests of a caller could overtake its older ones. */
function chooseOrder(length: number, isStanding: boolean): TakeOrder {
  if (isStanding) return "newest";
  return length > shortQueueMax ? "oldest" : "arrival";
}

function rejectExpired(waiting: WaitingRequests, queue: StandingQueue, nowMs: number): void {
  const normalMsMax = queue.isStanding ? waitMsMax : shortQueueWaitMsMax;
  const criticalMsMax = queue.isStanding ? criticalWaitMsMax : shortQueueWaitMsMax;
  for (const expired of waiting.removeExpired(nowMs, normalMsMax, criticalMsMax)) {
    expired.decide(false);
    queue.recordRejection(nowMs);
  }
}

/** @param onLate called after the second of two samples with a long delay: a single one, such as by a garbage collection, is no overload. */
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
