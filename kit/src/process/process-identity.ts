import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** One process and no other: process ids are used again, a pid together with its start is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own words (clock ticks since boot on Linux); only good for comparing. */
  readonly startedAt: string;
}

/** The identity of a process that runs now; undefined when there is none, or only its unreaped remains (a zombie). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether exactly this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

// proc_pid_stat(5): "pid (command) state …", the start is field 22. The command may hold blanks and parentheses,
// therefore we count from the last one.
function startFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  try {
    const asked = ["-o", "stat=,lstart=", "-p", String(pid)];
    const [state = "", ...start] = execFileSync("ps", asked, { encoding: "utf8", timeout: 5_000 }).trim().split(/\s+/);
    return state === "" || state.startsWith("Z") ? undefined : start.join(" ");
  } catch {
    return undefined;
  }
}
