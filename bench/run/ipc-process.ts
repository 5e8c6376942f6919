import { once } from "node:events";
import { join } from "node:path";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";

/** Starts a script of the benchmark on core 1, with an IPC channel. @param script path below `bench/`. */
export function startIpcProcess(script: string): PinnedProcess {
  const command = [join(import.meta.dirname, "..", script)];
  return startPinned({ core: 1, command, stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** Resolves with the process's next IPC message. @throws Error if the process exits first. */
export async function receiveMessage<T>({ child, failed }: PinnedProcess): Promise<T> {
  const [message] = await Promise.race([once(child, "message"), failed]);
  return message;
}
