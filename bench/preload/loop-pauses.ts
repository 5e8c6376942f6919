// Runs inside a gateway: measures the event loop's pauses between two SIGUSR2 signals.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { reportOnSignal } from "./report-on-signal.ts";

export interface LoopPauses {
  readonly maxMs: number;
  /**
   * The longest CPU time of the main thread between two ticks of a 1 ms timer. If the longest pause exceeds it, the
   * thread waited for its core, which another process or another thread of the gateway used.
   */
  readonly workMaxMs: number;
}

const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();

let workMaxUs = 0;
let lastCpuTimeUs = readCpuTimeUs();
setInterval(() => {
  const cpuTimeUs = readCpuTimeUs();
  workMaxUs = Math.max(workMaxUs, cpuTimeUs - lastCpuTimeUs);
  lastCpuTimeUs = cpuTimeUs;
}, 1).unref();

reportOnSignal((): LoopPauses => {
  const pauses = { maxMs: delays.max / 1e6, workMaxMs: workMaxUs / 1e3 }; // `delays.max` is in nanoseconds.
  delays.reset();
  workMaxUs = 0;
  return pauses;
});

/** Of the main thread, since its start. */
function readCpuTimeUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
