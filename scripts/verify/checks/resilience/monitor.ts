// Loaded into the gateway's process by tested-gateway.ts (`node --import`): reports event loop delays and memory use to its parent process.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** Measurements since the parent's last request. A pause is the time between two samples (`resolutionMs`), longer if the event loop was busy. */
export interface LoopReport {
  /** Event loop delays in wall time, in milliseconds, including the resolution. Other processes on the machine increase them. */
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** Number of pauses longer than pauseMsMax in wall time. */
  readonly longCount: number;
  /** The longest CPU time of the main thread in one pause, in milliseconds. Other processes do not affect it. */
  readonly cpuMaxMs: number;
  /** Number of pauses with a CPU time longer than pauseMsMax. */
  readonly cpuLongCount: number;
}

export interface MemoryReport {
  readonly heapBytes: number;
  readonly rssBytes: number;
}

export type MonitorRequest = "loop" | "memory";

/** The sampling interval, and so the resolution of delays. */
const resolutionMs = 2;
export const pauseMsMax = 20;
const responseDelayMs = 5 * resolutionMs;

// Not in the gateway's worker threads, which load this file too, and not in generations.ts, which imports `pauseMsMax` from it.
if (isMainThread && process.send) monitorLoop();

function monitorLoop(): void {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  const cpuPauses = createCpuPauses();
  histogram.enable();
  setInterval(cpuPauses.sample, resolutionMs).unref();

  function readLoopReport(): LoopReport {
    const { max, count } = histogram;
    const [p99, p999] = [histogram.percentile(99), histogram.percentile(99.9)];
    const report = {
      p99Ms: p99 / 1e6,
      p999Ms: p999 / 1e6,
      maxMs: count === 0 ? 0 : max / 1e6,
      ...cpuPauses.readAndReset(),
    };
    histogram.reset();
    return report;
  }

  /** The garbage collection that this request causes is not counted as a pause. */
  function readMemoryReport(): MemoryReport {
    histogram.disable();
    for (let times = 0; times < 2; times++) globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    cpuPauses.skip();
    histogram.enable();
    return { heapBytes: heapUsed, rssBytes: rss };
  }

  // Delayed, because a pause that has just ended is only measured by the next timers.
  process.on("message", (request: MonitorRequest) =>
    setTimeout(() => process.send?.(request === "loop" ? readLoopReport() : readMemoryReport()), responseDelayMs),
  );
  // The parent process has ended and cannot stop this gateway.
  process.once("disconnect", () => process.exit());
  // The IPC channel does not keep the gateway running.
  process.channel?.unref();
}

function createCpuPauses() {
  let lastMs = performance.now();
  let lastCpuUs = readThreadCpuUs();
  let cpuMaxMs = 0;
  let cpuLongCount = 0;
  let longCount = 0;

  function step() {
    const [nowMs, cpuUs] = [performance.now(), readThreadCpuUs()];
    const elapsed = { wallMs: nowMs - lastMs, cpuMs: (cpuUs - lastCpuUs) / 1_000 };
    [lastMs, lastCpuUs] = [nowMs, cpuUs];
    return elapsed;
  }

  return {
    sample() {
      const { wallMs, cpuMs } = step();
      const ownMs = Math.min(wallMs, cpuMs);
      if (wallMs > pauseMsMax) longCount++;
      if (ownMs > pauseMsMax) cpuLongCount++;
      cpuMaxMs = Math.max(cpuMaxMs, ownMs);
    },
    skip: () => void step(),
    readAndReset() {
      const report = { longCount, cpuMaxMs, cpuLongCount };
      longCount = cpuLongCount = cpuMaxMs = 0;
      return report;
    },
  };
}

function readThreadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
