// Other processes use the cores, so that the event loop is late although this process's requests are no overload. Using up a quota of CPU time
// (cgroup) is overload.
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";

export interface Starvation {
  /** To be called every few milliseconds, because a call may begin a new window. */
  isStarved(): boolean;
  close(): void;
}

export interface CpuClock {
  nowMs(): number;
  mainThreadMs(): number;
  processMs(): number;
}

export interface StarvationOptions {
  readonly clock?: CpuClock;
  readonly cores?: number;
  readonly cpuStatFiles?: readonly string[];
}

/** Long enough that a thread which shares its core had several time slices. */
const windowMsMin = 100;
/** A process that uses more of the main thread's core, or of all its cores, is not starved: another busy process leaves it a half. */
const ownShareMin = 0.75;
const throttlingReadEveryMs = 1_000;

/** As a container sees its own cgroup: version 2, then version 1. */
const cpuStatFilesOfContainer = ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"];

const processClock: CpuClock = {
  nowMs: () => performance.now(),
  mainThreadMs: () => toMs(process.threadCpuUsage()),
  processMs: () => toMs(process.cpuUsage()),
};

export function watchStarvation({
  clock = processClock,
  cores = availableParallelism(),
  cpuStatFiles = cpuStatFilesOfContainer,
}: StarvationOptions = {}): Starvation {
  const throttling = watchThrottling(cpuStatFiles);
  const read = () => ({ nowMs: clock.nowMs(), mainThreadMs: clock.mainThreadMs(), processMs: clock.processMs() });
  let start = read();
  let isShort = false;
  return {
    isStarved() {
      if (clock.nowMs() - start.nowMs >= windowMsMin) {
        const end = read();
        const windowMs = end.nowMs - start.nowMs;
        const mainThreadShare = (end.mainThreadMs - start.mainThreadMs) / windowMs;
        const processShare = (end.processMs - start.processMs) / (windowMs * cores);
        isShort = Math.max(mainThreadShare, processShare) < ownShareMin;
        start = end;
      }
      return isShort && !throttling.isThrottled();
    },
    close: throttling.close,
  };
}

function watchThrottling(files: readonly string[]) {
  let throttledPeriods = Infinity;
  let isThrottled = false;

  async function update(): Promise<void> {
    const periods = await readThrottledPeriods(files);
    isThrottled = periods > throttledPeriods;
    throttledPeriods = periods;
  }

  void update();
  const timer = setInterval(() => void update(), throttlingReadEveryMs).unref();
  return { isThrottled: () => isThrottled, close: () => clearInterval(timer) };
}

/** Since the cgroup exists. */
async function readThrottledPeriods(files: readonly string[]): Promise<number> {
  for (const file of files) {
    const text = await readFile(file, "utf8").catch(() => undefined);
    const periods = text && /^nr_throttled (\d+)$/m.exec(text)?.[1];
    if (periods) return Number(periods);
  }
  return 0;
}

function toMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1_000;
}
