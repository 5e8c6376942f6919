import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, isRunning, type ProcessIdentity } from "../process/process-identity.ts";

const pollMs = 20;
const fastStopMs = 5_000;
const immediateStopMs = 3_000;
const killedMs = 2_000;

/**
 * Clears the way for a new server on this data folder. A server that outlived its supervisor (`kill -9`) is stopped; one
 * whose supervisor lives is left alone, and this throws; a postmaster.pid that names a process of somebody else goes.
 */
export async function endLeftover(folder: string, log: (line: string) => void): Promise<void> {
  const pid = readPostmasterPid(folder);
  const leftover = pid === undefined ? undefined : identifyProcess(pid);
  if (leftover === undefined) return; // PostgreSQL itself removes a stale postmaster.pid.
  if (!servesFolder(leftover.pid, folder)) {
    // The pid was given to another program since: PostgreSQL would refuse to start because of it.
    rmSync(join(folder, "postmaster.pid"), { force: true });
    return;
  }
  const owner = readSupervisor(folder);
  if (owner && isRunning(owner)) throw new Error(`${folder} is in use: process ${owner.pid} runs PostgreSQL on it.`);
  log(`stopping a PostgreSQL (pid ${leftover.pid}) whose supervisor is gone`);
  await endPostmaster(leftover);
}

/** Fast shutdown (SIGINT); after 5 s immediate (SIGQUIT), after 3 s more SIGKILL. Resolves when it is gone. */
export async function endPostmaster(postmaster: ProcessIdentity): Promise<void> {
  const ways = [
    ["SIGINT", fastStopMs],
    ["SIGQUIT", immediateStopMs],
    ["SIGKILL", killedMs],
  ] as const;
  for (const [signal, waitMs] of ways) {
    signalProcess(postmaster.pid, signal);
    if (await isGoneWithin(postmaster, waitMs)) return;
  }
  throw new Error(`PostgreSQL (pid ${postmaster.pid}) does not end.`);
}

/** Notes in the data folder that this process answers for its server. */
export function writeSupervisor(folder: string): void {
  writeFileSync(join(folder, "supervisor.json"), JSON.stringify(identifyProcess(process.pid)));
}

/** Whether somebody answered for this data folder once, and lives no more. */
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
    const pid = Number(readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n")[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

// A postmaster changes into its data folder: on Linux that is proof. Elsewhere its command line has to do.
function servesFolder(pid: number, folder: string): boolean {
  try {
    if (process.platform === "linux") return readlinkSync(`/proc/${pid}/cwd`) === folder;
    const command = execFileSync("ps", ["-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 5_000,
    });
    return command.includes("postgres") && command.includes(folder);
  } catch {
    return false;
  }
}

async function isGoneWithin(postmaster: ProcessIdentity, waitMs: number): Promise<boolean> {
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
    // It ended meanwhile.
  }
}
