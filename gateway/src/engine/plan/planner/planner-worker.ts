// One planner worker as seen from the main thread: a worker thread that runs one task at a time and is terminated if the task uses too much CPU time.
// planner-pool.ts starts it, and worker-slot.ts gives it tasks.
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { LibraryLogEntry, PlannerWorkerData, Task, TimedResult, WorkerLost } from "./worker-messages.ts";

export interface PlannerWorker {
  /**
   * Resolves with the result of the task, or with the reason why the worker ended. Never rejects. Call it for one task at a time.
   * @param cpuMsMax the worker is terminated when it has used this CPU time. It includes the start of the thread, if it is not running yet.
   * Wall-clock time is no measure of a task, because the process may be paused or wait for a core: it ends a worker only after `checksMax`.
   */
  run(task: Task, cpuMsMax: number): Promise<TimedResult | WorkerLost>;
  /** Terminates the thread, and settles its task as `worker-lost`. Resolves when the thread has exited. */
  end(): Promise<void>;
}

export interface PlannerWorkerOptions extends Omit<PlannerWorkerData, "compileCacheFolder"> {
  /** The entry module of the thread. */
  readonly file: URL;
  readonly heapMbMax: number;
  readonly onLogEntry: (entry: LibraryLogEntry) => void;
  /** Called at most once, before `run` resolves, and never after `end`. */
  readonly onLost: (lost: WorkerLost) => void;
}

interface RunningTask {
  readonly startedMs: number;
  readonly cpuMsMax: number;
  settle(outcome: TimedResult | WorkerLost): void;
}

/** Smaller than Node's default, which saves 25 MB. Planning takes as long as before (measured). */
const youngHeapMbMax = 12;

/** A running task is checked this often in the wall-clock time of `cpuMsMax`: first after that time, then at each interval. */
const checksPerDeadline = 4;
/** Ten times `cpuMsMax`. A pause of the process counts as one check, however long it is: its timers run once when it continues. */
const checksMax = 10 * checksPerDeadline;
/** Of `cpuMsMax`. Smaller than 1, because another thread may have used the core for a moment: otherwise a full interval would follow. */
const deadlineTolerance = 0.95;

/** Starts the thread. It keeps the process alive only while it runs a task. */
export function startPlannerWorker({
  file,
  heapMbMax,
  onLogEntry,
  onLost,
  ...firstLoad
}: PlannerWorkerOptions): PlannerWorker {
  const worker = new Worker(file, {
    workerData: { compileCacheFolder: getCompileCacheDir(), ...firstLoad } satisfies PlannerWorkerData,
    // The worker does not get the environment of the gateway, because Apollo's packages read keys and switches from environment variables.
    env: { APOLLO_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
    // Nor the modules that a program which embeds the gateway loads by `--import`: they may need that environment.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
    name: "planner",
  });
  let running: RunningTask | undefined;
  let isEnded = false;

  function endAsLost(reason: WorkerLost["reason"], cause: Error): void {
    if (isEnded) return;
    isEnded = true;
    const blamed = reason === "deadline" || reason === "memory" ? running : undefined;
    const cpuMs = blamed ? Math.min(performance.now() - blamed.startedMs, blamed.cpuMsMax) : 0;
    const lost: WorkerLost = { kind: "worker-lost", reason, cause, cpuMs };
    onLost(lost);
    running?.settle(lost);
    void worker.terminate();
  }

  worker.unref();
  worker.on("message", (message: TimedResult | LibraryLogEntry) => {
    if (message.kind === "library-log") onLogEntry(message);
    else running?.settle(message);
  });
  worker.on("error", (error) => endAsLost(isOutOfMemory(error) ? "memory" : "died", error));
  worker.on("exit", (code) => endAsLost("died", new Error(`The planner worker exited with code ${code}`)));

  return {
    run(task, cpuMsMax) {
      return new Promise((resolve) => {
        const cpuMsAtStart = readCpuMs(worker);
        let checks = 0;
        const check = async () => {
          checks++;
          if (checks < checksPerDeadline) return;
          if (checks === checksMax) {
            return endAsLost("stalled", new Error("The planner worker got too little CPU time to complete its task"));
          }
          // Neither resolves before the thread runs again.
          const usedMs = (await readCpuMs(worker)) - (await cpuMsAtStart);
          const isPending = running?.settle === settle;
          if (!isPending || usedMs < cpuMsMax * deadlineTolerance) return;
          endAsLost("deadline", new Error(`The planner worker used more than ${cpuMsMax} ms of CPU time`));
        };
        const timer = setInterval(() => void check(), cpuMsMax / checksPerDeadline);
        const settle = (outcome: TimedResult | WorkerLost): void => {
          running = undefined;
          clearInterval(timer);
          // After `end` the worker remains referenced, for the reason given there.
          if (!isEnded) worker.unref();
          resolve(outcome);
        };
        running = { settle, startedMs: performance.now(), cpuMsMax };
        worker.ref();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        worker.postMessage(task);
      });
    },
    async end() {
      isEnded = true;
      // An unreferenced worker would let the process exit before `terminate` resolves.
      worker.ref();
      await worker.terminate();
      const cause = new Error("The planner pool was closed");
      running?.settle({ kind: "worker-lost", reason: "died", cause, cpuMs: 0 });
    },
  };
}

/** The CPU time of the thread. 0 if it is not running yet, or no longer. */
async function readCpuMs(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    return 0;
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
