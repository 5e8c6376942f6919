// Runs inside a gateway: measures the event loop's pauses between two SIGUSR2 signals, and the heap.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { reportOnSignal } from "./report-on-signal.ts";

export interface LoopPauses {
  readonly maxMs: number;
  /** Of all delays, in wall time. */
  readonly p99Ms: number;
  /**
   * The longest CPU time of the main thread between two ticks of a 1 ms timer. If the longest pause exceeds it, the
   * thread waited for its core, which another process or another thread of the gateway used.
   */
  readonly workMaxMs: number;
  /** With `--expose-gc` after a full garbage collection, which is part of no pause. */
  readonly heapBytes: number;
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

reportOnSignal(async (): Promise<LoopPauses> => {
  // A pause that has just ended is only measured by the next timers.
  await sleep(10);
  // The histogram is in nanoseconds.
  const pauses = { maxMs: delays.max / 1e6, p99Ms: delays.percentile(99) / 1e6, workMaxMs: workMaxUs / 1e3 };
  for (let collections = 0; collections < 2; collections++) globalThis.gc?.();
  const heapBytes = process.memoryUsage().heapUsed;
  delays.reset();
  workMaxUs = 0;
  lastCpuTimeUs = readCpuTimeUs();
  return { ...pauses, heapBytes };
});

/** Of the main thread, since its start. */
function readCpuTimeUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
