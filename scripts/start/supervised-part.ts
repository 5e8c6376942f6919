// One part of the platform as a state machine: at most one process at a time, started again when it has failed.
import { setTimeout as sleep } from "node:timers/promises";
import { pollUntil } from "@tributary/kit/testing/poll-until";
import { isReady, type PartProcess, type PartProcessOptions, startProcess } from "./part-process.ts";

export interface PartOptions extends PartProcessOptions {
  readonly readyUrl: string;
  readonly readyTimeoutMs: number;
  onProcess(pid: number, change: "started" | "ended"): void;
}

export interface SupervisedPart {
  isReady(): boolean;
  /** Resolves when it is ready or has failed, at the latest after `readyTimeoutMs`. */
  start(): Promise<void>;
  /** Resolves to whether the part is ready in time. No effect before the first start (true) and while the part restarts or stops (false). */
  restart(cause: string): Promise<boolean>;
  /** Permanently. Resolves when its process and its process group have ended. */
  stop(): Promise<void>;
  /** Permanently; kills its process group at once. */
  kill(): void;
}

/**
 * `idle`: not started yet. `restarting` and `stopping`: the process has received SIGTERM. `failed`: the process has ended by itself, and a timer
 * starts another one.
 */
type State = "idle" | "starting" | "running" | "restarting" | "failed" | "stopping" | "stopped";
type Event = "start" | "ready" | "restart" | "ended" | "stop";

/** The next state for each event. An event that a state does not list has no effect. */
const transitions: Readonly<Record<State, Readonly<Partial<Record<Event, State>>>>> = {
  idle: { start: "starting", stop: "stopped" },
  starting: { ready: "running", ended: "failed", restart: "restarting", stop: "stopping" },
  running: { ended: "failed", restart: "restarting", stop: "stopping" },
  restarting: { ended: "starting", stop: "stopping" },
  failed: { start: "starting", restart: "starting", stop: "stopped" },
  stopping: { ended: "stopped" },
  stopped: {},
};

const readyPollMs = 30;
const restartAfterCrashMs = 500;
/** A part that does not start repeats its error at this interval, until a saved file corrects it. */
const retryAfterFailedStartMs = 10_000;

function describeRetry(before: State, ending: string, delayMs: number): string {
  const delay = `in ${delayMs / 1_000} s`;
  if (before === "running") return `${ending}; restarting ${delay}`;
  return `${ending} before it was ready; starting it again when its code is saved, or ${delay}`;
}

export function createSupervisedPart(options: PartOptions): SupervisedPart {
  const { print, readyUrl, readyTimeoutMs, onProcess } = options;
  let state: State = "idle";
  let current: PartProcess | undefined;
  let retryTimer: NodeJS.Timeout | undefined;

  /** Returns false if the event has no effect. @param ending how the process ended. */
  function handle(event: Event, ending = ""): boolean {
    const before = state;
    const next = transitions[before][event];
    if (next === undefined) return false;
    state = next;
    clearTimeout(retryTimer);
    if (next === "starting") void launch();
    if (next === "restarting" || next === "stopping") current?.terminate();
    if (next === "failed") retryLater(before, ending);
    return true;
  }

  async function launch(): Promise<void> {
    const launched = startProcess(options);
    const { pid } = launched;
    current = launched;
    if (pid !== undefined) onProcess(pid, "started");
    void pollReady(launched);
    const ending = await launched.ended;
    if (pid !== undefined) onProcess(pid, "ended");
    handle("ended", ending);
  }

  async function pollReady(launched: PartProcess): Promise<void> {
    const isStarting = () => state === "starting" && current === launched;
    while (isStarting()) {
      const responds = await isReady(readyUrl);
      if (responds && isStarting()) handle("ready");
      await sleep(readyPollMs);
    }
  }

  function retryLater(before: State, ending: string): void {
    const delayMs = before === "running" ? restartAfterCrashMs : retryAfterFailedStartMs;
    print(describeRetry(before, ending, delayMs));
    retryTimer = setTimeout(() => handle("start"), delayMs);
  }

  async function waitUntilSettled(): Promise<void> {
    const isSettled = () => state !== "starting" && state !== "restarting";
    await pollUntil(isSettled, { everyMs: readyPollMs, withinMs: readyTimeoutMs });
  }

  return {
    isReady: () => state === "running",
    async start() {
      handle("start");
      await waitUntilSettled();
    },
    async restart(cause) {
      if (!handle("restart")) return state === "idle";
      print(`restarting: ${cause}`);
      const startedMs = performance.now();
      await waitUntilSettled();
      const tookMs = Math.round(performance.now() - startedMs);
      if (state === "running") print(`restarted, ready after ${tookMs} ms`);
      if (state === "starting") print(`restarted, not ready after ${tookMs} ms`);
      return state === "running";
    },
    async stop() {
      handle("stop");
      await current?.ended;
    },
    kill() {
      handle("stop");
      current?.kill();
    },
  };
}
