import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyProcess, isRunning, type ProcessIdentity } from "@tributary/kit/process/process-identity";
import { StartError } from "./start-error.ts";

/** A start that uses a data folder: the supervisor, and the processes it started. */
interface Run extends RunFacts {
  readonly supervisor: ProcessIdentity;
  readonly parts: readonly PartIdentity[];
}

/** What other commands can read of a running start. */
export interface RunFacts {
  /** Absent when the start has no issuer. */
  readonly issuerUrl?: string;
}

interface PartIdentity extends ProcessIdentity {
  readonly name: string;
}

export interface RunFile {
  /** Notes a process that we started, so that the next start finds it if we are killed. */
  add(name: string, pid: number): void;
  /** It has ended. */
  remove(pid: number): void;
  /** Ends what a killed supervisor left running. Resolves to the names. */
  endLeftovers(): Promise<string[]>;
  release(): void;
}

const endGraceMs = 3_000;
const pollMs = 25;
const takeAttemptsMax = 5;

/**
 * Takes the data folder for this process.
 * @throws StartError while another supervisor runs on it.
 */
export function takeRunFile(dataDir: string, facts: RunFacts = {}): RunFile {
  const file = fileIn(dataDir);
  const supervisor = identifySelf();
  let parts = takeOver(file, supervisor, facts);
  const write = () => replace(file, { supervisor, parts, ...facts });
  return {
    add(name, pid) {
      const identity = identifyProcess(pid);
      if (identity) parts = [...parts, { name, ...identity }];
      write();
    },
    remove(pid) {
      parts = parts.filter((part) => part.pid !== pid);
      write();
    },
    async endLeftovers() {
      const left = parts.filter(isRunning);
      await Promise.all(left.map(endGroup));
      parts = [];
      write();
      return [...new Set(left.map(({ name }) => name))];
    },
    release: () => rmSync(file, { force: true }),
  };
}

/** Where the issuer of the start that runs on this data folder listens; undefined without such a start. */
export function findRunningIssuer(dataDir: string): string | undefined {
  const run = readRun(fileIn(dataDir));
  return run && isRunning(run.supervisor) ? run.issuerUrl : undefined;
}

function fileIn(dataDir: string): string {
  return join(dataDir, "run.json");
}

// The file changes its owner in one step (link), after a check that its previous owner has ended. Returns the parts that
// the previous owner left.
function takeOver(file: string, supervisor: ProcessIdentity, facts: RunFacts): Run["parts"] {
  for (let attempt = 1; attempt <= takeAttemptsMax; attempt++) {
    const before = readRun(file);
    if (before && isRunning(before.supervisor)) throw alreadyRunning(file, before.supervisor.pid);
    const parts = before?.parts ?? [];
    moveAside(file, before);
    const mine = `${file}.${process.pid}.tmp`;
    writeFileSync(mine, JSON.stringify({ supervisor, parts, ...facts } satisfies Run));
    try {
      linkSync(mine, file);
      return parts;
    } catch {
      // Another process took it at the same moment: check again.
    } finally {
      rmSync(mine, { force: true });
    }
  }
  throw new StartError(`Could not take ${file}.`);
}

// Another one may have replaced the stale file since we read it: then it goes back to where it was.
function moveAside(file: string, before: Run | undefined): void {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
    if (readRun(aside)?.supervisor.pid !== before?.supervisor.pid) linkSync(aside, file);
  } catch {
    // There was none, or it is back already.
  } finally {
    rmSync(aside, { force: true });
  }
}

function replace(file: string, run: Run): void {
  const aside = `${file}.${process.pid}.tmp`;
  writeFileSync(aside, JSON.stringify(run));
  renameSync(aside, file);
}

function readRun(file: string): Run | undefined {
  try {
    const run = JSON.parse(readFileSync(file, "utf8")) as Run;
    return Array.isArray(run.parts) ? run : undefined;
  } catch {
    return undefined;
  }
}

function identifySelf(): ProcessIdentity {
  const self = identifyProcess(process.pid);
  if (self === undefined) throw new Error("This process cannot find itself; is ps or /proc missing?");
  return self;
}

function alreadyRunning(file: string, pid: number): StartError {
  return new StartError(
    `The platform runs already on this data folder (process ${pid}, ${file}). Stop it first, or give this one a DATA_DIR and ports of its own.`,
  );
}

// Our parts lead groups of their own, so the group goes with them.
async function endGroup(identity: ProcessIdentity): Promise<void> {
  signalGroup(identity.pid, "SIGTERM");
  for (const deadline = performance.now() + endGraceMs; isRunning(identity); await sleep(pollMs))
    if (performance.now() > deadline) signalGroup(identity.pid, "SIGKILL");
}

/** Signals a process group; one that is gone already is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}
