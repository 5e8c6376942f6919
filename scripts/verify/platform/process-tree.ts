import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/**
 * Kills a process and its direct children with SIGKILL: postgres.ts crashes the server with it. The process is stopped (SIGSTOP) first, so that
 * it can neither start another child nor react to the end of a child.
 * @throws Error if the process does not exist.
 */
export function killWithChildren(pid: number): void {
  process.kill(pid, "SIGSTOP");
  for (const target of [pid, ...childrenOf(pid)]) killIfRunning(target);
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

/** The pids of a process's direct children. PostgreSQL's children have no children. */
export function childrenOf(parent: number): readonly number[] {
  const processes = process.platform === "linux" ? processesFromProc() : processesFromPs();
  return processes.filter(([, ppid]) => ppid === parent).map(([pid]) => pid);
}

type ProcessAndParent = readonly [pid: number, ppid: number];

function processesFromProc(): readonly ProcessAndParent[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => [Number(pid), readParentFromProc(pid)]);
}

/**
 * proc_pid_stat(5): "pid (command) state ppid …". The command may contain any characters, so fields are counted from the last parenthesis.
 * @returns 0 if the process has ended since `/proc` was listed.
 */
function readParentFromProc(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(ppid);
  } catch {
    return 0;
  }
}

function processesFromPs(): readonly ProcessAndParent[] {
  const output = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8", timeout: 5_000 });
  const lines = output.trim().split("\n");
  return lines.map((line) => {
    const [pid = 0, ppid = 0] = line.trim().split(/\s+/).map(Number);
    return [pid, ppid];
  });
}
