// Stage 3 of 5: how to answer? The entry of a planner's thread. It blocks as long as it likes: nobody's requests are here.
import { enableCompileCache } from "node:module";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { IntrospectionValues } from "../introspection-writer.ts";
import type { LibrarySaid, Task, TaskAnswer, ThreadData } from "./tasks.ts";

// Before anything of Apollo's is loaded: it is what takes the time.
const { compileCacheFolder } = workerData as ThreadData;
if (compileCacheFolder !== undefined) enableCompileCache(compileCacheFolder);

// Whoever answers requests comes first where both want one core. Linux gives a thread a priority of its own; elsewhere it would be the process's.
if (process.platform === "linux") setPriority(0, 10);

const { createSupergraphs } = await import("./supergraphs.ts");
const supergraphs = createSupergraphs({ say: send });
parentPort?.on("message", (task: Task) => void supergraphs.perform(task).then(send));

function send(message: TaskAnswer | LibrarySaid): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message, message.kind === "introspected" ? listBuffers(message.values) : []);
}

/** Moved to the main thread instead of being copied. */
function listBuffers(values: IntrospectionValues = {}): ArrayBuffer[] {
  return Object.values(values).map(({ buffer }) => buffer as ArrayBuffer);
}
