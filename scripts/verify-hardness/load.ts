import { setTimeout as sleep } from "node:timers/promises";

export interface LoadOptions {
  readonly perSecond: number;
  /** Resolves with what is wrong with the answer, undefined when nothing is; throws when there was none. */
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
  /** Forgets what was measured until now. */
  reset(): void;
  /** Sends no more, and resolves when all have been answered. */
  stop(): Promise<LoadReport>;
}

/** More than this under way, and the next are counted as failed without being sent. */
const underWayMax = 2_000;

/** Open loop: requests are sent at their times, however late the answers come; so a standstill counts for all who came in it. */
export function startLoad({ perSecond, send }: LoadOptions): Load {
  const startMs = performance.now();
  const under = new Set<Promise<void>>();
  let latenciesMs: number[] = [];
  let failures = new Map<string, number>();
  let sentLateMsMax = 0;
  const stopping = new AbortController();
  let count = 0;
  const fail = (what: string) => failures.set(what, (failures.get(what) ?? 0) + 1);

  async function sendOne(intendedMs: number): Promise<void> {
    // What was sent before a reset is of no interest after it.
    const [latencies, failuresThen] = [latenciesMs, failures];
    const what = await send(count).catch((error: unknown) => String(error));
    if (failuresThen !== failures) return;
    latencies.push(performance.now() - intendedMs);
    if (what !== undefined) fail(what.slice(0, 200));
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const dueMs = startMs + (count * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      count++;
      sentLateMsMax = Math.max(sentLateMsMax, performance.now() - dueMs);
      if (under.size >= underWayMax) {
        fail(`not sent: ${underWayMax} are under way`);
        continue;
      }
      const one = sendOne(dueMs).finally(() => under.delete(one));
      under.add(one);
    }
  }

  const running = run();
  return {
    reset() {
      latenciesMs = [];
      failures = new Map();
      sentLateMsMax = 0;
    },
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(under);
      const ascending = latenciesMs.toSorted((a, b) => a - b);
      return { count: ascending.length, latenciesMs: ascending, sentLateMsMax, failures };
    },
  };
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
