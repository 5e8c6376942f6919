// The entry module of a planner worker: receives tasks from the main thread and sends their results. Planning blocks this thread only.
import { enableCompileCache } from "node:module";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { IntrospectionValues } from "../introspection/introspection-writer.ts";
import type { LibraryLogEntry, PlannerWorkerData, Task, TimedResult } from "./worker-messages.ts";

// Before the dynamic import below, because compiling Apollo's packages takes most of a worker's start.
const { compileCacheFolder, isFirstLoadUrgent, isFirstLoadKnown } = workerData as PlannerWorkerData;
if (compileCacheFolder !== undefined) enableCompileCache(compileCacheFolder);

const thisThread = 0;
const niceValue = 10;
// The priority cannot be raised again (setpriority(2)), so an urgent load comes before it.
if (!isFirstLoadUrgent) lowerPriority();

const { createTaskRunner, importApolloGateway } = await import("./task-runner.ts");
// While the main thread loads its own modules.
if (!isFirstLoadKnown) await importApolloGateway();
const taskRunner = createTaskRunner({ log: send });
parentPort?.on("message", (task: Task) => void run(task));

async function run(task: Task): Promise<void> {
  const before = process.threadCpuUsage();
  const result = await taskRunner.run(task);
  const { user, system } = process.threadCpuUsage(before);
  send({ ...result, cpuMs: (user + system) / 1_000 });
  if (isFirstLoadUrgent && result.kind === "loaded") lowerPriority();
}

/**
 * The main thread goes first when both threads need the same core. Only Linux has priorities per thread; elsewhere, the call would change the
 * priority of the whole process.
 */
function lowerPriority(): void {
  if (process.platform === "linux") setPriority(thisThread, niceValue);
}

function send(message: TimedResult | LibraryLogEntry): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message, message.kind === "introspected" ? listBuffers(message.values) : []);
}

/** Buffers to transfer to the main thread instead of copying them. */
function listBuffers(values: IntrospectionValues = {}): ArrayBuffer[] {
  return Object.values(values).map(({ buffer }) => buffer as ArrayBuffer);
}
