// Keeps one part running: restarts its process after a crash, and replaces it without refusing connections when its code was saved.
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "./backoff.ts";
import { createRetryOutputs, type RetryOutput } from "./output/repeated-line-filter.ts";
import {
  isReady,
  type PartProcess,
  type PartProcessOptions,
  portsAreShared,
  startProcess,
  startStandby,
} from "./part-process.ts";

export interface PartOptions extends PartProcessOptions {
  readonly name: string;
  /** Responds with 200 once the part accepts requests. */
  readonly readyUrl: string;
  /** Called when a process of the part has been started, and when it has ended. During a restart the part has two. */
  onProcess(pid: number, state: "started" | "ended"): void;
  /** A crash after this time without a crash counts as the first. */
  readonly stableMs: number;
  /** How long a process may take to end before its group is killed. */
  readonly stopGraceMs: number;
}

/** One part of the platform. Its process is restarted whenever it ends, until `stop` is called. */
export interface SupervisedPart {
  readonly name: string;
  /** May be called once. */
  start(): void;
  /**
   * Replaces the process by one that loads the current code. Resolves to true when the old process has ended, and to false
   * after `stop`, or if the new process does not load or listen: then the old one keeps running. Where two processes cannot
   * share a port (see `portsAreShared`), the old one ends before the new one listens. Only one restart may run at a time.
   */
  restart(): Promise<boolean>;
  /** Stops the part permanently. Resolves when its processes and their groups have ended. */
  stop(): Promise<void>;
  /** Kills all processes of the part at once. */
  kill(): void;
  /** Resolves to true when the part is ready, to false after the timeout or after `stop`. */
  waitUntilReady(timeoutMs: number): Promise<boolean>;
}

const readyPollMs = 30;
const repeatedFailureMessage =
  "failed again with the same output; restarting after a change and at least every 8 s, without printing the same output again";

export function createSupervisedPart(options: PartOptions): SupervisedPart {
  const { name, print } = options;
  const outputs = createRetryOutputs(print);
  const liveProcesses = createLiveProcesses(options);
  let current: PartProcess | undefined;
  let restartTimer: NodeJS.Timeout | undefined;
  let failures = 0;
  let repeats = 0;
  let isStopped = false;

  function launch(): void {
    if (isStopped) return;
    const output = outputs.startAttempt();
    void supervise(liveProcesses.add(startProcess({ ...options, print: output.line })), output);
  }

  /** Makes this the part's current process. When it ends unexpectedly, another one is started. */
  async function supervise(process_: PartProcess, output: RetryOutput): Promise<void> {
    const startedMs = performance.now();
    current = process_;
    const ending = await process_.ended;
    if (current !== process_) return; // Replaced or stopped.
    current = undefined;
    const isStable = performance.now() - startedMs >= options.stableMs;
    failures = isStable ? 1 : failures + 1;
    repeats = output.endAttempt() ? repeats + 1 : 0;
    if (isStable) outputs.reset();
    if (repeats === 0) print(`${ending}; restarting in ${backoffMs(failures)} ms`);
    if (repeats === 1) print(repeatedFailureMessage);
    restartTimer = setTimeout(launch, backoffMs(failures));
  }

  function releaseCurrent(): PartProcess | undefined {
    clearTimeout(restartTimer);
    const released = current;
    current = undefined;
    return released;
  }

  async function endCurrent(): Promise<void> {
    const before = releaseCurrent();
    if (before) await liveProcesses.end(before);
  }

  return {
    name,
    start: launch,
    async restart() {
      outputs.reset();
      const output = outputs.startAttempt();
      const next = liveProcesses.add(startStandby({ ...options, print: output.line }));
      if (!(await next.loaded) || isStopped) return false;
      if (!portsAreShared) await endCurrent();
      next.activate();
      if (portsAreShared && !(await next.listening)) return false;
      await endCurrent();
      if (isStopped) return false;
      failures = 0;
      void supervise(next, output);
      return true;
    },
    async stop() {
      isStopped = true;
      releaseCurrent();
      await liveProcesses.endAll();
    },
    kill() {
      isStopped = true;
      releaseCurrent();
      liveProcesses.killAll();
    },
    waitUntilReady: (timeoutMs) => pollReady(options.readyUrl, timeoutMs, () => isStopped),
  };
}

async function pollReady(url: string, timeoutMs: number, isStopped: () => boolean): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(readyPollMs)) {
    if (isStopped()) return false;
    if (await isReady(url)) return true;
  }
  return false;
}

/** The part's running processes: two during a restart, otherwise one. */
function createLiveProcesses({ onProcess, print, stopGraceMs }: PartOptions) {
  const live = new Set<PartProcess>();

  async function track(process_: PartProcess, pid: number): Promise<void> {
    live.add(process_);
    onProcess(pid, "started");
    await process_.ended;
    live.delete(process_);
    onProcess(pid, "ended");
  }

  async function end(process_: PartProcess): Promise<void> {
    process_.terminate();
    const timer = setTimeout(() => {
      print(`did not end within ${stopGraceMs} ms after SIGTERM; killing it`);
      process_.kill();
    }, stopGraceMs);
    await process_.ended;
    clearTimeout(timer);
  }

  return {
    add<P extends PartProcess>(process_: P): P {
      if (process_.pid !== undefined) void track(process_, process_.pid);
      return process_;
    },
    end,
    endAll: () => Promise.all([...live].map(end)),
    killAll() {
      for (const process_ of live) process_.kill();
    },
  };
}
