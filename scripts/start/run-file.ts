// The file run.json in the data folder: the lock that permits one start at a time, and the list of processes to end if the supervisor was
// killed.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, isRunning, type ProcessIdentity } from "@tributary/kit/process/process-identity";
import { StartError } from "./start-error.ts";

/** The content of run.json: the supervisor that uses the data folder, and the processes that it started. */
interface RunRecord extends RunInfo {
  readonly supervisor: ProcessIdentity;
  readonly parts: readonly PartIdentity[];
}

/** What other commands can read about a running start. */
export interface RunInfo {
  /** Absent if the start has no issuer. */
  readonly issuerUrl?: string;
}

interface PartIdentity extends ProcessIdentity {
  readonly name: string;
}

export interface RunFile {
  /** Records a started process, so that the next start finds it if this supervisor is killed. */
  add(name: string, pid: number): void;
  /** Removes a process that has ended. */
  remove(pid: number): void;
  /** Ends the processes that a killed supervisor left running. Resolves to their names. */
  endLeftovers(): Promise<string[]>;
  /** Deletes the file: the next start may use the data folder. */
  release(): void;
}

const endGraceMs = 3_000;
const pollMs = 25;

/**
 * Locks the data folder for this process with run.json.
 * @throws StartError while another supervisor uses the folder.
 */
export function acquireRunFile(dataDir: string, info: RunInfo = {}): RunFile {
  const file = fileIn(dataDir);
  const supervisor = identifySelf();
  let parts = replaceStaleFile(file, supervisor, info);
  const write = () => replace(file, { supervisor, parts, ...info });
  return {
    add(name, pid) {
      const identity = identifyProcess(pid); // Undefined if the process has already ended.
      if (identity) parts = [...parts, { name, ...identity }];
      write();
    },
    remove(pid) {
      parts = parts.filter((part) => part.pid !== pid);
      write();
    },
    async endLeftovers() {
      const leftovers = parts.filter(isRunning);
      await Promise.all(leftovers.map(endGroup));
      parts = [];
      write();
      return [...new Set(leftovers.map(({ name }) => name))];
    },
    release: () => rmSync(file, { force: true }),
  };
}

/** For `npm run token`: the issuer's URL of the running start that uses this data folder; undefined without a running start or an issuer. */
export function findRunningIssuer(dataDir: string): string | undefined {
  const run = readRun(fileIn(dataDir));
  return run && isRunning(run.supervisor) ? run.issuerUrl : undefined;
}

function fileIn(dataDir: string): string {
  return join(dataDir, "run.json");
}

/**
 * Replaces the file of a supervisor that has ended, and returns the processes that it lists. Creating the link fails if another start has
 * created the file since this one removed it.
 */
function replaceStaleFile(file: string, supervisor: ProcessIdentity, info: RunInfo): RunRecord["parts"] {
  const before = readRun(file);
  if (before && isRunning(before.supervisor)) throw alreadyRunning(file, before.supervisor.pid);
  const parts = before?.parts ?? [];
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify({ supervisor, parts, ...info } satisfies RunRecord));
  try {
    rmSync(file, { force: true });
    linkSync(temporary, file);
    return parts;
  } catch (cause) {
    throw new StartError(`Could not create ${file}: does another start create it? Try again.`, { cause });
  } finally {
    rmSync(temporary, { force: true });
  }
}

function replace(file: string, run: RunRecord): void {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, JSON.stringify(run));
  renameSync(temporary, file);
}

function readRun(file: string): RunRecord | undefined {
  try {
    const run = JSON.parse(readFileSync(file, "utf8")) as RunRecord;
    return Array.isArray(run.parts) ? run : undefined;
  } catch {
    return undefined;
  }
}

function identifySelf(): ProcessIdentity {
  const self = identifyProcess(process.pid);
  if (self === undefined) throw new Error("This process cannot read its own start time; is ps or /proc missing?");
  return self;
}

function alreadyRunning(file: string, pid: number): StartError {
  return new StartError(
    `The platform already runs with this data folder (process ${pid}, ${file}). Stop it first, or start this one with another DATA_DIR and other ports.`,
  );
}

// Each part leads a process group, so signalling the group also ends the part's child processes.
async function endGroup(identity: ProcessIdentity): Promise<void> {
  signalGroup(identity.pid, "SIGTERM");
  for (const deadline = performance.now() + endGraceMs; isRunning(identity); await sleep(pollMs))
    if (performance.now() > deadline) signalGroup(identity.pid, "SIGKILL");
}

/** Signals a process group. A group that has already ended is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
