// Loaded into the gateway's process by tested-gateway.ts (`node --import`): reports event loop delays and memory use to its parent process.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** Measurements since the parent's last request. A pause is the time between two samples: `resolutionMs`, or more if the event loop was busy. */
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
const nsPerMs = 1e6;

// Not in the gateway's worker threads, which load this file too, and not in generations.ts, which imports `pauseMsMax` from it.
if (isMainThread && process.send) monitorLoop();

function monitorLoop(): void {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  const pauses = createPauses();
  histogram.enable();
  setInterval(pauses.sample, resolutionMs).unref();

  function readLoopReport(): LoopReport {
    const { max, count } = histogram;
    const report = {
      p99Ms: histogram.percentile(99) / nsPerMs,
      p999Ms: histogram.percentile(99.9) / nsPerMs,
      maxMs: count === 0 ? 0 : max / nsPerMs,
      ...pauses.readAndReset(),
    };
    histogram.reset();
    return report;
  }

  /** The garbage collection is part of the next `p99Ms`, `p999Ms` and `maxMs`, but counts as no pause. */
  function readMemoryReport(): MemoryReport {
    for (let collections = 0; collections < 2; collections++) globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    pauses.skip();
    return { heapBytes: heapUsed, rssBytes: rss };
  }

  process.on("message", (request: MonitorRequest) => {
    const readReport = request === "loop" ? readLoopReport : readMemoryReport;
    // Delayed, because a pause that has just ended is only measured by the next timers.
    setTimeout(() => process.send?.(readReport()), responseDelayMs);
  });
  // The parent process has ended and cannot stop this gateway.
  process.once("disconnect", () => process.exit());
  // The IPC channel does not keep the gateway running.
  process.channel?.unref();
}

/** Measures each pause in wall time and in CPU time of the main thread. */
function createPauses() {
  let lastMs = performance.now();
  let lastCpuUs = readThreadCpuUs();
  let cpuMaxMs = 0;
  let cpuLongCount = 0;
  let longCount = 0;

  /** Starts the next pause. @returns the length of the one that ends. */
  function endPause() {
    const nowMs = performance.now();
    const nowCpuUs = readThreadCpuUs();
    const pause = { wallMs: nowMs - lastMs, cpuMs: (nowCpuUs - lastCpuUs) / 1_000 };
    lastMs = nowMs;
    lastCpuUs = nowCpuUs;
    return pause;
  }

  return {
    sample() {
      const pause = endPause();
      // The two clocks are read one after the other, and have different resolutions: CPU time can seem longer than wall time.
      const cpuMs = Math.min(pause.wallMs, pause.cpuMs);
      if (pause.wallMs > pauseMsMax) longCount++;
      if (cpuMs > pauseMsMax) cpuLongCount++;
      cpuMaxMs = Math.max(cpuMaxMs, cpuMs);
    },
    /** Discards the time since the last sample. */
    skip() {
      endPause();
    },
    readAndReset() {
      const report = { longCount, cpuMaxMs, cpuLongCount };
      longCount = 0;
      cpuLongCount = 0;
      cpuMaxMs = 0;
      return report;
    },
  };
}

function readThreadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
