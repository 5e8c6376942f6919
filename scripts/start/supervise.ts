import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "./backoff.ts";
import { createRetryOutputs, type RetryOutput } from "./repetition.ts";
import {
  isAnswering,
  type PartProcess,
  type PartProcessOptions,
  portsAreShared,
  startProcess,
  startStandby,
} from "./part-process.ts";

export interface PartOptions extends PartProcessOptions {
  readonly name: string;
  /** Answers 200 once the part takes requests. */
  readonly readyUrl: string;
  /** Told of every process of the part when it starts, and when it is gone. */
  onProcess(pid: number, state: "started" | "gone"): void;
  /** After so long without a crash the next one counts as the first. */
  readonly stableMs: number;
  /** How long it may take to end before its group is killed. */
  readonly stopGraceMs: number;
}

/** One process that is kept running until it is told to stop. */
export interface SupervisedPart {
  readonly name: string;
  /** Once. */
  start(): void;
  /**
   * Replaces the process by one with the code of now; one restart at a time. Resolves when the old one is gone, to false
   * when the new one does not come up: then the old one runs on.
   */
  restart(): Promise<boolean>;
  /** For good. Resolves when the processes and their groups are gone. */
  stop(): Promise<void>;
  /** The hard way, at once. */
  kill(): void;
  /** True when it is ready, false when that takes longer, or it has been stopped. */
  waitUntilReady(timeoutMs: number): Promise<boolean>;
}

const readyPollMs = 30;
const failedAgain =
  "failed again in the same way; starting it again after a change and at least every 8 s, without further lines while that repeats";

export function createSupervisedPart(options: PartOptions): SupervisedPart {
  const { name, say } = options;
  const outputs = createRetryOutputs(say);
  const roster = createRoster(options);
  let current: PartProcess | undefined;
  let again: NodeJS.Timeout | undefined;
  let failures = 0;
  let repeats = 0;
  let isStopped = false;

  function launch(): void {
    if (isStopped) return;
    const output = outputs.begin();
    void keep(roster.add(startProcess({ ...options, say: output.line })), output);
  }

  /** Makes this the part's process: when it ends by itself another one is started. */
  async function keep(process_: PartProcess, output: RetryOutput): Promise<void> {
    const startedMs = performance.now();
    current = process_;
    const how = await process_.gone;
    if (current !== process_) return; // We ended it.
    current = undefined;
    const isStable = performance.now() - startedMs >= options.stableMs;
    failures = isStable ? 1 : failures + 1;
    repeats = output.fail() ? repeats + 1 : 0;
    if (isStable) outputs.reset();
    if (repeats === 0) say(`${how}; starting it again in ${backoffMs(failures)} ms`);
    if (repeats === 1) say(failedAgain);
    again = setTimeout(launch, backoffMs(failures));
  }

  function giveUpCurrent(): PartProcess | undefined {
    clearTimeout(again);
    const given = current;
    current = undefined;
    return given;
  }

  async function endCurrent(): Promise<void> {
    const before = giveUpCurrent();
    if (before) await roster.end(before);
  }

  return {
    name,
    start: launch,
    async restart() {
      outputs.reset();
      const output = outputs.begin();
      const next = roster.add(startStandby({ ...options, say: output.line }));
      if (!(await next.loaded) || isStopped) return false;
      if (!portsAreShared) await endCurrent();
      next.begin();
      if (portsAreShared && !(await next.listening)) return false;
      await endCurrent();
      if (isStopped) return false;
      failures = 0;
      void keep(next, output);
      return true;
    },
    async stop() {
      isStopped = true;
      giveUpCurrent();
      await roster.endAll();
    },
    kill() {
      isStopped = true;
      giveUpCurrent();
      roster.killAll();
    },
    waitUntilReady: (timeoutMs) => pollReady(options.readyUrl, timeoutMs, () => isStopped),
  };
}

async function pollReady(url: string, timeoutMs: number, isStopped: () => boolean): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(readyPollMs)) {
    if (isStopped()) return false;
    if (await isAnswering(url)) return true;
  }
  return false;
}

/** The part's processes that are alive: one as a rule, two while one replaces the other. */
function createRoster({ onProcess, say, stopGraceMs }: PartOptions) {
  const alive = new Set<PartProcess>();

  async function follow(process_: PartProcess, pid: number): Promise<void> {
    alive.add(process_);
    onProcess(pid, "started");
    await process_.gone;
    alive.delete(process_);
    onProcess(pid, "gone");
  }

  async function end(process_: PartProcess): Promise<void> {
    process_.terminate();
    const timer = setTimeout(() => {
      say(`does not end within ${stopGraceMs} ms; killing it`);
      process_.kill();
    }, stopGraceMs);
    await process_.gone;
    clearTimeout(timer);
  }

  return {
    add<P extends PartProcess>(process_: P): P {
      if (process_.pid !== undefined) void follow(process_, process_.pid);
      return process_;
    },
    end,
    endAll: () => Promise.all([...alive].map(end)),
    killAll() {
      for (const process_ of alive) process_.kill();
    },
  };
}
