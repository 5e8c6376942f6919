import { renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/**
 * On each SIGUSR2, writes the result of `createReport` as JSON to the file that BENCH_REPORT_FILE names. For modules that
 * the benchmark loads into a contender's process with `--import`.
 */
export function reportOnSignal(createReport: () => unknown): void {
  const file = process.env["BENCH_REPORT_FILE"];
  // The worker threads of the process load these modules too, but only the main thread is measured.
  if (file === undefined || !isMainThread) return;
  const write = async () => {
    const report = await createReport();
    // Renamed when it is complete, because preload.ts reads the file as soon as it exists.
    writeFileSync(`${file}.new`, JSON.stringify(report ?? null));
    renameSync(`${file}.new`, file);
  };
  process.on("SIGUSR2", () => void write());
}
