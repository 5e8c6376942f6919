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
let workedUs = readWorkUs();
setInterval(() => {
  const now = readWorkUs();
  workMaxUs = Math.max(workMaxUs, now - workedUs);
  workedUs = now;
}, 1).unref();

reportOnSignal((): LoopPauses => {
  const pauses = { maxMs: delays.max / 1e6, workMaxMs: workMaxUs / 1e3 };
  delays.reset();
  workMaxUs = 0;
  return pauses;
});

function readWorkUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
