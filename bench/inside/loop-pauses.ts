// Inside a gateway: the event loop's pauses between one asking and the next.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { tellWhenAsked } from "./tell-when-asked.ts";

export interface LoopPauses {
  readonly maxMs: number;
  readonly p99Ms: number;
  /**
   * The most that the main thread worked between two turns of a timer, in CPU time. A longer pause is one in which it
   * had no core: others had it, or threads of the gateway's own.
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

tellWhenAsked((): LoopPauses => {
  const pauses = { maxMs: delays.max / 1e6, p99Ms: delays.percentile(99) / 1e6, workMaxMs: workMaxUs / 1e3 };
  delays.reset();
  workMaxUs = 0;
  return pauses;
});

function readWorkUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
