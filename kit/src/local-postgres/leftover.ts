import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, isRunning, type ProcessIdentity } from "../process/process-identity.ts";

const pollMs = 20;
const fastStopMs = 5_000;
const immediateStopMs = 3_000;
const killStopMs = 2_000;
const psTimeoutMs = 5_000;

/**
 * Also removes a postmaster.pid whose pid now belongs to another program. @throws Error if the supervisor of a running server still runs.
 */
export async function endLeftover(folder: string, log: (line: string) => void): Promise<void> {
  const pid = readPostmasterPid(folder);
  if (pid === undefined) return;
  const runningProcess = identifyProcess(pid);
  if (runningProcess === undefined) return; // PostgreSQL itself removes a stale postmaster.pid.
  if (!servesFolder(pid, folder)) {
    rmSync(join(folder, "postmaster.pid"), { force: true });
    return;
  }
  const supervisor = readSupervisor(folder);
  if (supervisor && isRunning(supervisor)) {
    throw new Error(`${folder} is in use: process ${supervisor.pid} runs PostgreSQL on it.`);
  }
  log(`stopping a PostgreSQL (pid ${pid}) whose supervisor has ended`);
  await endPostmaster(runningProcess);
}

/** Fast shutdown (SIGINT); after 5 s immediate (SIGQUIT), after 3 s more SIGKILL. @throws Error if it still runs 2 s later. */
export async function endPostmaster(postmaster: ProcessIdentity): Promise<void> {
  const steps = [
    ["SIGINT", fastStopMs],
    ["SIGQUIT", immediateStopMs],
    ["SIGKILL", killStopMs],
  ] as const;
  for (const [signal, waitMs] of steps) {
    signalProcess(postmaster.pid, signal);
    if (await endsWithin(postmaster, waitMs)) return;
  }
  throw new Error(`PostgreSQL (pid ${postmaster.pid}) did not stop.`);
}

export function writeSupervisor(folder: string): void {
  writeFileSync(join(folder, "supervisor.json"), JSON.stringify(identifyProcess(process.pid)));
}

/** False if no supervisor is recorded. */
export function isAbandoned(folder: string): boolean {
  const supervisor = readSupervisor(folder);
  return supervisor !== undefined && !isRunning(supervisor);
}

function readSupervisor(folder: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "supervisor.json"), "utf8")) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

function readPostmasterPid(folder: string): number | undefined {
  try {
    const [firstLine] = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
    const pid = Number(firstLine);
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

// A postmaster's working directory is its data folder, which Linux shows.
function servesFolder(pid: number, folder: string): boolean {
  try {
    if (process.platform === "linux") return readlinkSync(`/proc/${pid}/cwd`) === folder;
    const command = execFileSync("ps", ["-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: psTimeoutMs,
    });
    return command.includes("postgres") && command.includes(folder);
  } catch {
    return false;
  }
}

async function endsWithin(postmaster: ProcessIdentity, waitMs: number): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (isRunning(postmaster)) {
    if (performance.now() > deadline) return false;
    await sleep(pollMs);
  }
  return true;
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}
