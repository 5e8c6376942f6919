// Loaded into a gateway's process (`node --import`): tells its parent how long the event loop stood still, and what the heap holds.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** What is told, counted from the last question on. */
export interface LoopReport {
  /** Loop delay by the clock, resolution included: other processes on the machine add to it. Percentiles and the longest, ms. */
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** Pauses longer than pauseMsMax by the clock. */
  readonly longCount: number;
  /** The longest time that the main thread itself computed without coming back to its loop, ms. The machine adds nothing to it. */
  readonly ownMaxMs: number;
  /** Such times longer than pauseMsMax. */
  readonly ownLongCount: number;
}

export interface MemoryReport {
  readonly heapBytes: number;
  readonly rssBytes: number;
}

export type Question = "loop" | "memory";

/** How often we look whether the loop turns; a delay can be told no finer. */
const resolutionMs = 2;
export const pauseMsMax = 20;
const answerAfterMs = 5 * resolutionMs;

if (isMainThread && process.send) watchLoop();

function watchLoop(): void {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  const own = createOwnPauses();
  histogram.enable();
  setInterval(own.look, resolutionMs).unref();

  function tellLoop(): LoopReport {
    const { max, count } = histogram;
    const [p99, p999] = [histogram.percentile(99), histogram.percentile(99.9)];
    const report = {
      p99Ms: p99 / 1e6,
      p999Ms: p999 / 1e6,
      maxMs: count === 0 ? 0 : max / 1e6,
      ...own.tell(),
    };
    histogram.reset();
    return report;
  }

  /** A collection that is asked for is none of the gateway's pauses. */
  function tellMemory(): MemoryReport {
    histogram.disable();
    for (let times = 0; times < 2; times++) globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    own.forget();
    histogram.enable();
    return { heapBytes: heapUsed, rssBytes: rss };
  }

  // Not at once: a pause that has just ended is told by the timers that come after it.
  process.on("message", (question: Question) =>
    setTimeout(() => process.send?.(question === "loop" ? tellLoop() : tellMemory()), answerAfterMs),
  );
  // Whoever started this gateway is gone, and nobody else will end it.
  process.once("disconnect", () => process.exit());
  process.channel?.unref();
}

function createOwnPauses() {
  let lastMs = performance.now();
  let lastCpuUs = readThreadCpuUs();
  let ownMaxMs = 0;
  let ownLongCount = 0;
  let longCount = 0;

  function step() {
    const [nowMs, cpuUs] = [performance.now(), readThreadCpuUs()];
    const past = { wallMs: nowMs - lastMs, cpuMs: (cpuUs - lastCpuUs) / 1_000 };
    [lastMs, lastCpuUs] = [nowMs, cpuUs];
    return past;
  }

  return {
    look() {
      const { wallMs, cpuMs } = step();
      const ownMs = Math.min(wallMs, cpuMs);
      if (wallMs > pauseMsMax) longCount++;
      if (ownMs > pauseMsMax) ownLongCount++;
      ownMaxMs = Math.max(ownMaxMs, ownMs);
    },
    forget: () => void step(),
    tell() {
      const report = { longCount, ownMaxMs, ownLongCount };
      longCount = ownLongCount = ownMaxMs = 0;
      return report;
    },
  };
}

function readThreadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
