import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Identifies one process, for `npm start` and the embedded PostgreSQL. Process ids are reused; the pair of id and start time is unique. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time in a system-specific format (clock ticks since boot on Linux), only for comparison. */
  readonly startedAt: string;
}

/** The identity of a running process; undefined if there is none, or only a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Whether the identified process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

// proc_pid_stat(5): "pid (command) state …", the start time is field 22. The command may contain blanks and
// parentheses, so the fields are counted from the last parenthesis: the first after it is field 3, the state (Z and X: the process has ended).
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
    const psArguments = ["-o", "stat=,lstart=", "-p", String(pid)];
    const [state = "", ...start] = execFileSync("ps", psArguments, { encoding: "utf8", timeout: 5_000 })
      .trim()
      .split(/\s+/);
    return state === "" || state.startsWith("Z") ? undefined : start.join(" ");
  } catch {
    return undefined;
  }
}
