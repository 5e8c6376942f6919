import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ContenderCommand } from "../contenders/contender.ts";

/** A module of this folder that measures inside a contender's process. */
export type PreloadModule = "loop-pauses" | "cpu-profile";

const pollMs = 5;
const reportMsMax = 10_000;

const toReportFile = (folder: string) => join(folder, "preload-report.json");

/** Adds the module to a contender's command, by `--import`. @throws Error if the program is not Node. */
export function addPreload(module: PreloadModule, folder: string, plain: ContenderCommand): ContenderCommand {
  if (plain.program !== undefined) throw new Error(`${plain.program} cannot load a module of Node.`);
  const args = ["--import", join(import.meta.dirname, `${module}.ts`), ...plain.args];
  return { args, environment: { ...plain.environment, BENCH_REPORT_FILE: toReportFile(folder) } };
}

/**
 * Sends SIGUSR2 to a process with a preload module, and resolves with its report on the time since the previous signal.
 * @throws Error after 10 s without a report.
 */
export async function collectReport(folder: string, pid: number): Promise<unknown> {
  const file = toReportFile(folder);
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  const deadlineMs = Date.now() + reportMsMax;
  while (!existsSync(file)) {
    if (Date.now() > deadlineMs) throw new Error(`No report of the preload module after ${reportMsMax} ms.`);
    await sleep(pollMs);
  }
  return JSON.parse(readFileSync(file, "utf8"));
}
