// Inside a gateway: the event loop's pauses between one asking and the next.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { tellWhenAsked } from "./tell-when-asked.ts";

export interface LoopPauses {
  readonly maxMs: number;
  readonly p99Ms: number;
}

const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();

tellWhenAsked((): LoopPauses => {
  const pauses = { maxMs: delays.max / 1e6, p99Ms: delays.percentile(99) / 1e6 };
  delays.reset();
  return pauses;
});
