import { renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/**
 * On each SIGUSR2 writes what `tell` says to the file that the environment names. For modules that the benchmark loads
 * into a gateway's process with --import, whatever gateway it is.
 */
export function tellWhenAsked(tell: () => unknown): void {
  const file = process.env["BENCH_TELL_FILE"];
  // A gateway's worker threads load these modules, too; nobody asks them.
  if (file === undefined || !isMainThread) return;
  const write = async () => {
    const told = await tell();
    writeFileSync(`${file}.new`, JSON.stringify(told ?? null));
    renameSync(`${file}.new`, file);
  };
  process.on("SIGUSR2", () => void write());
}
