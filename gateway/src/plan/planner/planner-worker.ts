// One planner worker as seen from the main thread: a worker thread that runs one task at a time and is terminated at the task's deadline.
// planner-pool.ts starts it, and worker-slot.ts gives it tasks.
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { LibraryLogEntry, PlannerWorkerData, Task, TaskResult, WorkerLost } from "./worker-messages.ts";

export interface PlannerWorker {
  /**
   * Resolves with the result of the task, or with the reason why the worker ended. Never rejects. Call it for one task at a time.
   * @param timeoutMs the worker is terminated after this time. It includes the start of the thread, if it is not running yet.
   */
  run(task: Task, timeoutMs: number): Promise<TaskResult | WorkerLost>;
  /** Terminates the thread, and settles its task as `worker-lost`. Resolves when the thread has exited. */
  end(): Promise<void>;
}

export interface PlannerWorkerOptions {
  /** The entry module of the thread. */
  readonly file: URL;
  readonly heapMbMax: number;
  readonly onLogEntry: (entry: LibraryLogEntry) => void;
  /** Called at most once, before `run` resolves, and never after `end`. */
  readonly onLost: (lost: WorkerLost) => void;
}

/** Smaller than Node's default, which saves 25 MB. Planning takes as long as before (measured). */
const youngHeapMbMax = 12;

/** Starts the thread. It keeps the process alive only while it runs a task. */
export function startPlannerWorker({ file, heapMbMax, onLogEntry, onLost }: PlannerWorkerOptions): PlannerWorker {
  const worker = new Worker(file, {
    workerData: { compileCacheFolder: getCompileCacheDir() } satisfies PlannerWorkerData,
    // The worker does not get the environment of the gateway, because Apollo's packages read keys and switches from environment variables.
    env: { APOLLO_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
    name: "planner",
  });
  let settleTask: ((outcome: TaskResult | WorkerLost) => void) | undefined;
  let isEnded = false;

  function endAsLost(reason: WorkerLost["reason"], cause: Error): void {
    if (isEnded) return;
    isEnded = true;
    const lost: WorkerLost = { kind: "worker-lost", reason, cause };
    onLost(lost);
    settleTask?.(lost);
    void worker.terminate();
  }

  worker.unref();
  worker.on("message", (message: TaskResult | LibraryLogEntry) => {
    if (message.kind === "library-log") onLogEntry(message);
    else settleTask?.(message);
  });
  worker.on("error", (error) => endAsLost(isOutOfMemory(error) ? "memory" : "died", error));
  worker.on("exit", (code) => endAsLost("died", new Error(`The planner worker exited with code ${code}`)));

  return {
    run(task, timeoutMs) {
      return new Promise((resolve) => {
        const endIfPending = () => {
          const isPending = settleTask === settle;
          if (isPending) endAsLost("deadline", new Error(`The planner worker ran for more than ${timeoutMs} ms`));
        };
        // If the main thread was blocked, the timer is late and the result may have arrived already: `setImmediate` lets Node read it first.
        const timer = setTimeout(() => setImmediate(endIfPending), timeoutMs);
        const settle = (outcome: TaskResult | WorkerLost): void => {
          settleTask = undefined;
          clearTimeout(timer);
          // After `end` the worker remains referenced, for the reason given there.
          if (!isEnded) worker.unref();
          resolve(outcome);
        };
        settleTask = settle;
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
      settleTask?.({ kind: "worker-lost", reason: "died", cause: new Error("The planner pool was closed") });
    },
  };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
