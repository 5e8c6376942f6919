// run.json in the data folder: it permits one start at a time, and lists the processes to end if the supervisor was killed.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, isRunning, type ProcessIdentity } from "@tributary/kit/process/process-identity";
import { CommandError } from "../command-line.ts";
import { replaceFile } from "../replace-file.ts";

interface PartIdentity extends ProcessIdentity {
  readonly name: string;
}

/** The supervisor that uses the data folder, and the processes that it started. */
interface RunRecord {
  readonly supervisor: ProcessIdentity;
  /** Undefined if the start has no issuer. */
  readonly issuerUrl: string | undefined;
  /** Those that were started, or have a substitute. Undefined: all. */
  readonly names?: readonly string[] | undefined;
  readonly parts: readonly PartIdentity[];
}

export interface RunFile {
  /** The next start finds it if this supervisor is killed. */
  add(name: string, pid: number): void;
  remove(pid: number): void;
  /** Ends the processes that a killed supervisor left running. Resolves to their names. */
  endLeftovers(): Promise<string[]>;
  release(): void;
}

const endGraceMs = 3_000;
const pollMs = 25;

/** @throws CommandError while another supervisor uses the folder. */
export function acquireRunFile(dataDir: string, issuerUrl?: string, names?: readonly string[]): RunFile {
  const file = fileIn(dataDir);
  const start = { supervisor: identifySelf(), issuerUrl, names };
  let parts = replaceStaleFile(file, start); // At first the processes that a killed supervisor has recorded.
  const save = () => replaceFile(file, JSON.stringify({ ...start, parts } satisfies RunRecord));
  return {
    add(name, pid) {
      const identity = identifyProcess(pid); // Undefined if the process has already ended.
      if (identity) parts = [...parts, { name, ...identity }];
      save();
    },
    remove(pid) {
      parts = parts.filter((part) => part.pid !== pid);
      save();
    },
    async endLeftovers() {
      const leftovers = parts.filter(isRunning);
      await Promise.all(leftovers.map(endGroup));
      parts = [];
      save();
      return [...new Set(leftovers.map(({ name }) => name))];
    },
    release: () => rmSync(file, { force: true }),
  };
}

/** Undefined without a running start that uses this data folder, or without an issuer. */
export function findRunningIssuer(dataDir: string): string | undefined {
  const run = readRun(fileIn(dataDir));
  return run && isRunning(run.supervisor) ? run.issuerUrl : undefined;
}

/** Undefined without a running start that uses this data folder. */
export function findStartedNames(dataDir: string): readonly string[] | undefined {
  const run = readRun(fileIn(dataDir));
  return run && isRunning(run.supervisor) ? run.names : undefined;
}

function fileIn(dataDir: string): string {
  return join(dataDir, "run.json");
}

/**
 * Replaces the file of a supervisor that has ended, and returns the processes that it lists. The lock file excludes other starts
 * between the read and the write: without it, each of several starts could replace the file that another has just written.
 */
function replaceStaleFile(file: string, start: Omit<RunRecord, "parts">): readonly PartIdentity[] {
  const lock = `${file}.lock`;
  createLock(lock);
  try {
    const previousRun = readRun(file);
    if (previousRun && isRunning(previousRun.supervisor)) throw alreadyRunning(file, previousRun.supervisor.pid);
    const parts = previousRun?.parts ?? [];
    replaceFile(file, JSON.stringify({ ...start, parts } satisfies RunRecord));
    return parts;
  } finally {
    rmSync(lock, { force: true });
  }
}

function createLock(lock: string): void {
  try {
    writeFileSync(lock, "", { flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw new CommandError(
      `Another start uses ${lock} at this moment. If none runs, delete the file; then try again.`,
      {
        cause,
      },
    );
  }
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

function alreadyRunning(file: string, pid: number): CommandError {
  return new CommandError(
    `The platform already runs with this data folder (process ${pid}, ${file}). Stop it first, or start this one with another DATA_DIR and other ports.`,
  );
}

// Each part leads a process group, so signalling the group also ends the part's child processes.
async function endGroup(leader: ProcessIdentity): Promise<void> {
  signalGroup(leader.pid, "SIGTERM");
  const deadline = performance.now() + endGraceMs;
  while (isRunning(leader)) {
    if (performance.now() > deadline) signalGroup(leader.pid, "SIGKILL");
    await sleep(pollMs);
  }
}

/** A group that has already ended is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
