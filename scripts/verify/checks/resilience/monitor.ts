// Loaded into the gateway's process by tested-gateway.ts (`node --import`): reports event loop pauses and memory use to its parent process.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

/** Measurements since the parent's last request. A pause is the time between two samples: `resolutionMs`, or more if the event loop was busy. */
export interface GatewayReport {
  /** The 99th percentile of the delays in wall time, including the resolution. Other processes on the machine increase it. */
  readonly p99Ms: number;
  /** The longest CPU time of the main thread in one pause. Other processes do not affect it. */
  readonly cpuMaxMs: number;
  /** After a full garbage collection. */
  readonly heapBytes: number;
}

const resolutionMs = 2;

// Not in the gateway's worker threads, which load this file too.
if (isMainThread && process.send) monitorLoop();

function monitorLoop(): void {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  let cpuMaxMs = 0;
  let lastMs = performance.now();
  let lastCpuUs = readThreadCpuUs();
  const sample = () => {
    const [nowMs, nowCpuUs] = [performance.now(), readThreadCpuUs()];
    // The two clocks are read one after the other, and have different resolutions: CPU time can seem longer than wall time.
    const cpuMs = Math.min(nowMs - lastMs, (nowCpuUs - lastCpuUs) / 1_000);
    cpuMaxMs = Math.max(cpuMaxMs, cpuMs);
    [lastMs, lastCpuUs] = [nowMs, nowCpuUs];
  };
  setInterval(sample, resolutionMs).unref();
  const report = () => {
    const measured = { p99Ms: histogram.percentile(99) / 1e6, cpuMaxMs };
    for (let collections = 0; collections < 2; collections++) globalThis.gc?.();
    process.send?.({ ...measured, heapBytes: process.memoryUsage().heapUsed } satisfies GatewayReport);
    // The garbage collection is part of no measurement.
    sample();
    cpuMaxMs = 0;
    histogram.reset();
  };
  // Delayed, because a pause that has just ended is only measured by the next timers.
  process.on("message", () => setTimeout(report, 5 * resolutionMs));
  // The parent process has ended and cannot stop this gateway.
  process.once("disconnect", () => process.exit());
  // The IPC channel does not keep the gateway running.
  process.channel?.unref();
}

function readThreadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
