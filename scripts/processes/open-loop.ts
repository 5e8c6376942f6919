import { setTimeout as sleep } from "node:timers/promises";

export interface LoadOptions {
  readonly perSecond: number;
  /**
   * Resolves with what is wrong with the answer, undefined when nothing is; throws when there was none. Has to end by itself, by a deadline;
   * tries once, so that what is counted are first attempts.
   */
  send(count: number): Promise<string | undefined>;
}

export interface LoadReport {
  readonly count: number;
  /** From the time at which each was to be sent, ascending. */
  readonly latenciesMs: readonly number[];
  /** How late the latest of them was sent: that is our own delay, or the machine's, and counts as latency all the same. */
  readonly sentLateMsMax: number;
  /** What went wrong, how often. */
  readonly failures: ReadonlyMap<string, number>;
}

export interface Load {
  /** How many have been sent and not been answered yet. */
  readonly underWay: number;
  /** Forgets what was measured until now. */
  reset(): void;
  /** What was to be sent since the last call, once all of it was answered. Later requests belong to the next call. */
  next(): Promise<LoadReport>;
  /** Sends no more, and resolves when all have been answered. */
  stop(): Promise<LoadReport>;
}

/** More than this under way, and the next are counted as failed without being sent. */
const underWayMax = 2_000;
/** What goes wrong in more ways is counted as one. */
const failureKindsMax = 100;
const failureCharsMax = 200;

/** Open loop: requests are sent at their times, however late the answers come; so a standstill counts for all who came in it. */
export function startLoad({ perSecond, send }: LoadOptions): Load {
  const startMs = performance.now();
  const stopping = new AbortController();
  let window = openWindow();
  let underWay = 0;
  let count = 0;

  async function sendOne(dueMs: number, { latenciesMs, fail }: Window): Promise<void> {
    underWay++;
    const what = await send(count).catch((error: unknown) => describeError(error));
    underWay--;
    latenciesMs.push(performance.now() - dueMs);
    if (what !== undefined) fail(what);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const dueMs = startMs + (count * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (stopping.signal.aborted) return;
      count++;
      window.sent(dueMs);
      if (underWay >= underWayMax) window.fail(`not sent: ${underWayMax} are under way`);
      else window.follow(sendOne(dueMs, window));
    }
  }

  function next(): Promise<LoadReport> {
    const closing = window;
    window = openWindow();
    return closing.close();
  }

  const running = run();
  return {
    get underWay() {
      return underWay;
    },
    reset: () => void (window = openWindow()),
    next,
    async stop() {
      stopping.abort();
      await running;
      return next();
    },
  };
}

type Window = ReturnType<typeof openWindow>;

/** What is measured of the requests that were to be sent in one stretch of time. */
function openWindow() {
  const latenciesMs: number[] = [];
  const failures = new Map<string, number>();
  const followed = new Set<Promise<void>>();
  let sentLateMsMax = 0;
  return {
    latenciesMs,
    sent: (dueMs: number) => void (sentLateMsMax = Math.max(sentLateMsMax, performance.now() - dueMs)),
    fail(what: string) {
      const text = what.slice(0, failureCharsMax);
      const kind = failures.has(text) || failures.size < failureKindsMax ? text : "something else";
      failures.set(kind, (failures.get(kind) ?? 0) + 1);
    },
    follow(request: Promise<void>) {
      const one = request.finally(() => followed.delete(one));
      followed.add(one);
    },
    async close(): Promise<LoadReport> {
      await Promise.all(followed);
      const ascending = latenciesMs.toSorted((a, b) => a - b);
      return { count: ascending.length, latenciesMs: ascending, sentLateMsMax, failures };
    },
  };
}

/** Errors of several addresses have no words of their own. */
function describeError(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(String).join(", ") : String(error);
}

/** @param ascending sorted. @returns 0 of nothing. */
export function percentile(ascending: readonly number[], percent: number): number {
  return ascending[Math.max(0, Math.ceil((ascending.length * percent) / 100) - 1)] ?? 0;
}

/** For a report. */
export function describeLoad({ count, latenciesMs, sentLateMsMax, failures }: LoadReport): string {
  const late = `sent ${sentLateMsMax.toFixed(1)} ms late at the latest`;
  return `${count.toLocaleString("en")} requests, ${describeLatencies(latenciesMs)}, ${late}, failures: ${describeFailures(failures)}`;
}

export function describeLatencies(latenciesMs: readonly number[]): string {
  const ascending = latenciesMs.toSorted((a, b) => a - b);
  const [p50, p99, max] = [50, 99, 100].map((percent) => percentile(ascending, percent).toFixed(1));
  return `p50 ${p50} ms, p99 ${p99} ms, longest ${max} ms`;
}

/** "3× a; 1× b" for a report. */
export function describeFailures(failures: ReadonlyMap<string, number>): string {
  return [...failures].map(([what, times]) => `${times}× ${what}`).join("; ") || "none";
}
