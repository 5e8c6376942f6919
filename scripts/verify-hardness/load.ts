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
    },
    async stop() {
      stopping.abort();
      await running;
      await Promise.all(under);
      return { count: latenciesMs.length, latenciesMs: latenciesMs.toSorted((a, b) => a - b), failures };
    },
  };
}

/** @param ascending sorted. @returns 0 of nothing. */
export function percentile(ascending: readonly number[], percent: number): number {
  return ascending[Math.max(0, Math.ceil((ascending.length * percent) / 100) - 1)] ?? 0;
}

/** "a 3×, b" for a report. */
export function describeFailures(failures: ReadonlyMap<string, number>): string {
  return [...failures].map(([what, times]) => `${times}× ${what}`).join("; ") || "none";
}
