import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../../bench/measure/quantile.ts";

export interface LoadOptions {
  readonly perSecond: number;
  /**
   * Sends one request; they are numbered from 1. Resolves with what is wrong with the response, or undefined; throws if there was no response. It
   * must have a timeout, and must not retry: first attempts are counted. `dueMs` is the time (`performance.now()`) from which its latency counts.
   */
  send(requestNumber: number, dueMs: number): Promise<string | undefined>;
}

export interface LoadReport {
  /** Requests that were sent. Requests that were not sent (more than `inFlightMax` in flight) are only in `failures`. */
  readonly count: number;
  /** Measured from the time at which each request was due, ascending. */
  readonly latenciesMs: readonly number[];
  /** The longest time between a request's due time and its sending: a delay of the load generator. Latencies include it. */
  readonly lagMs: number;
  readonly failures: ReadonlyMap<string, number>;
}

export interface Load {
  /** Discards all measurements so far, also those of requests that are still in flight. */
  reset(): void;
  /** Stops sending. Resolves to the report of all requests that were due, once they have ended. */
  stop(): Promise<LoadReport>;
}

/** While this many requests are in flight, further requests count as failed without being sent. */
const inFlightMax = 2_000;
/** After this many different messages, failures with other messages are counted together as one kind. */
const failureKindsMax = 100;
const failureCharsMax = 200;

/**
 * Open-loop load: requests are sent at fixed times, independent of responses. So a stall of the server delays every request that is
 * due during the stall, and the latencies show it (no coordinated omission).
 */
export function startLoad({ perSecond, send }: LoadOptions): Load {
  if (!(perSecond > 0)) throw new RangeError(`A load needs a positive rate, not ${perSecond}`);
  const startMs = performance.now();
  const stopping = new AbortController();
  let currentWindow = openWindow();
  let inFlight = 0;
  let requestNumber = 0;

  /** A response belongs to the window in which its request was due, even if a later window has begun. */
  async function sendOne(dueMs: number, window: MeasuringWindow): Promise<void> {
    inFlight++;
    const failure = await send(requestNumber, dueMs).catch((error: unknown) => describeError(error));
    inFlight--;
    window.latenciesMs.push(performance.now() - dueMs);
    if (failure !== undefined) window.recordFailure(failure);
  }

  async function sendUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const dueMs = startMs + (requestNumber * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (stopping.signal.aborted) return;
      requestNumber++;
      currentWindow.recordLag(dueMs);
      if (inFlight >= inFlightMax) currentWindow.recordFailure(`not sent: ${inFlightMax} are in flight`);
      else currentWindow.track(sendOne(dueMs, currentWindow));
    }
  }

  const sending = sendUntilStopped();
  return {
    reset() {
      currentWindow = openWindow();
    },
    async stop() {
      stopping.abort();
      await sending;
      return currentWindow.close();
    },
  };
}

type MeasuringWindow = ReturnType<typeof openWindow>;

/** The measurements of the requests that were due in one period. */
function openWindow() {
  const latenciesMs: number[] = [];
  const failures = new Map<string, number>();
  const pending = new Set<Promise<void>>();
  let lagMs = 0;
  return {
    latenciesMs,
    recordLag(dueMs: number): void {
      lagMs = Math.max(lagMs, performance.now() - dueMs);
    },
    recordFailure(failure: string): void {
      const message = failure.slice(0, failureCharsMax);
      const isCountedAlone = failures.has(message) || failures.size < failureKindsMax;
      const kind = isCountedAlone ? message : "other failures";
      failures.set(kind, (failures.get(kind) ?? 0) + 1);
    },
    track(request: Promise<void>): void {
      const tracked = request.finally(() => pending.delete(tracked));
      pending.add(tracked);
    },
    async close(): Promise<LoadReport> {
      await Promise.all(pending);
      // Several times as fast as with a comparator, so that it delays no request of a next load.
      const ascending = Array.from(Float64Array.from(latenciesMs).sort());
      return { count: ascending.length, latenciesMs: ascending, lagMs, failures };
    },
  };
}

/** An AggregateError (a connection failed for several addresses) has no message, so its errors are listed. */
function describeError(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(String).join(", ") : String(error);
}

export function describeLoad({ count, latenciesMs, lagMs, failures }: LoadReport): string {
  const delay = `sent at most ${lagMs.toFixed(1)} ms late`;
  return `${count.toLocaleString("en")} requests, ${describeLatencies(latenciesMs)}, ${delay}, failures: ${describeFailures(failures)}`;
}

export function describeLatencies(latenciesMs: readonly number[]): string {
  const format = (share: number) => `${quantile(latenciesMs, share).toFixed(1)} ms`;
  return `p50 ${format(0.5)}, p99 ${format(0.99)}, longest ${format(1)}`;
}

/** "3× a; 1× b" */
export function describeFailures(failures: ReadonlyMap<string, number>): string {
  if (failures.size === 0) return "none";
  return [...failures].map(([message, times]) => `${times}× ${message}`).join("; ");
}
