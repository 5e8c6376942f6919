import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Process ids are reused; the pair of id and start time is unique. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In a system-specific format, only for comparison. */
  readonly startedAt: string;
}

const stateField = 3;
const startTimeField = 22;
const psTimeoutMs = 5_000;

/** Undefined also for a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

// proc_pid_stat(5): "pid (command) state …". The command may contain blanks and parentheses, so the fields are counted from the last one.
function startFromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fieldsFromState = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state] = fieldsFromState;
    const hasEnded = state === "Z" || state === "X";
    return hasEnded ? undefined : fieldsFromState[startTimeField - stateField];
  } catch {
    return undefined;
  }
}

function startFromPs(pid: number): string | undefined {
  try {
    const psArguments = ["-o", "stat=,lstart=", "-p", String(pid)];
    const output = execFileSync("ps", psArguments, { encoding: "utf8", timeout: psTimeoutMs });
    const [state = "", ...start] = output.trim().split(/\s+/);
    const hasEnded = state === "" || state.startsWith("Z");
    return hasEnded ? undefined : start.join(" ");
  } catch {
    return undefined;
  }
}
