import { once } from "node:events";
import { join } from "node:path";
import { type PinnedProcess, startPinned } from "./pinned-process.ts";

/** A process of the benchmark's own on the load's core, which speaks and hears by messages. @param script below `bench/`. */
export function startHelper(script: string): PinnedProcess {
  const command = [join(import.meta.dirname, "..", script)];
  return startPinned({ core: 1, command, stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** What it says next. @throws Error when it ends instead. */
export async function hear<T>({ child, failed }: PinnedProcess): Promise<T> {
  const [message] = await Promise.race([once(child, "message"), failed]);
  return message;
}
