// Stage 3 of 5: how to answer? One thread, as the main thread sees it.
import { getCompileCacheDir } from "node:module";
import { Worker } from "node:worker_threads";
import type { LibrarySaid, Task, TaskAnswer, ThreadData, ThreadLost } from "./tasks.ts";

export interface Thread {
  /** Resolves with the answer, or with what became of the thread instead. One task at a time. */
  run(task: Task, timeoutMs: number): Promise<TaskAnswer | ThreadLost>;
  /** Resolves when it is gone. */
  end(): Promise<void>;
}

export interface ThreadOptions {
  readonly file: URL;
  readonly heapMbMax: number;
  readonly onSaid: (said: LibrarySaid) => void;
  /** At most once, before `run` resolves; not after `end`. */
  readonly onLost: (lost: ThreadLost) => void;
}

/** Smaller than Node's own: that saves 25 MB, and planning takes as long (measured). */
const youngHeapMbMax = 12;

/** The thread keeps the process alive only while it is at a task. */
export function startThread({ file, heapMbMax, onSaid, onLost }: ThreadOptions): Thread {
  const worker = new Worker(file, {
    workerData: { compileCacheFolder: getCompileCacheDir() } satisfies ThreadData,
    // Nothing of ours gets in: Apollo's packages read keys and switches from the environment.
    env: { APOLLO_TELEMETRY_DISABLED: "1", NODE_ENV: "production" },
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax, maxYoungGenerationSizeMb: youngHeapMbMax },
    name: "planner",
  });
  let finish: ((outcome: TaskAnswer | ThreadLost) => void) | undefined;
  let over = false;

  function lose(reason: ThreadLost["reason"], cause: Error): void {
    if (over) return;
    over = true;
    const lost: ThreadLost = { kind: "thread-lost", reason, cause };
    onLost(lost);
    finish?.(lost);
    void worker.terminate();
  }

  worker.unref();
  worker.on("message", (message: TaskAnswer | LibrarySaid) => {
    if (message.kind === "library-said") onSaid(message);
    else finish?.(message);
  });
  worker.on("error", (error) => lose(isOutOfMemory(error) ? "memory" : "died", error));
  worker.on("exit", (code) => lose("died", new Error(`The planner's thread ended with code ${code}`)));

  return {
    run(task, timeoutMs) {
      return new Promise((resolve) => {
        const late = () => {
          if (finish === settle) lose("deadline", new Error(`The planner was at it for more than ${timeoutMs} ms`));
        };
        // When it was this thread that slept, the answer is here already, and is read before `setImmediate` calls back.
        const timer = setTimeout(() => setImmediate(late), timeoutMs);
        const settle = (outcome: TaskAnswer | ThreadLost): void => {
          finish = undefined;
          clearTimeout(timer);
          // At the end the process waits for it: see there.
          if (!over) worker.unref();
          resolve(outcome);
        };
        finish = settle;
        worker.ref();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        worker.postMessage(task);
      });
    },
    async end() {
      over = true;
      // Else the process may end before the thread has, and before who waits for that goes on.
      worker.ref();
      await worker.terminate();
      finish?.({ kind: "thread-lost", reason: "died", cause: new Error("The planner was closed") });
    },
  };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
