import { type ChildProcess, execFileSync, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ContenderCommand } from "../benchmark.ts";

export interface PinnedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Rejects with the end of the process's output if the process exits before `stop` is called. */
  readonly failed: Promise<never>;
  /** Sends SIGTERM, after 10 s SIGKILL, and resolves when the process has exited. */
  stop(): Promise<void>;
}

export interface PinnedOptions extends ContenderCommand {
  readonly core: 0 | 1;
  readonly stdio: StdioOptions;
}

const stopMsMax = 10_000;
const outputCharsMax = 4_000;

/** Starts a program with all its threads on one core. `taskset` replaces itself by the program, so `pid` is the program's. */
export function startPinned(options: PinnedOptions): PinnedProcess {
  const { core, program = process.execPath, command, environment, stdio } = options;
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, NODE_ENV: "production", ...environment };
  const child = spawn("taskset", ["-c", String(core), program, ...command], { env, stdio });
  let recentOutput = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (bytes: Buffer) => {
      recentOutput = (recentOutput + bytes.toString()).slice(-outputCharsMax);
    });
  }
  // The child must not outlive the benchmark: it would use the core of the next run.
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const exited = once(child, "exit").finally(() => process.off("exit", kill));
  let isStopping = false;
  const failed = exited.then(([code, signal]): Promise<never> => {
    if (isStopping) return new Promise(() => {}); // Never settles: the exit was requested.
    throw new Error(`${command.join(" ")} exited with ${code ?? signal}:\n${recentOutput}`);
  });
  failed.catch(() => {}); // Prevents an unhandled rejection while no caller awaits `failed`.
  if (child.pid === undefined) throw new Error("taskset cannot be started: the benchmark needs Linux with util-linux.");
  return {
    pid: child.pid,
    child,
    failed,
    async stop() {
      isStopping = true;
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
      const isRunning = child.exitCode === null && child.signalCode === null;
      if (isRunning) await exited;
      clearTimeout(killTimer);
    },
  };
}

/** Pins all threads of this process, and each process that it starts afterwards other than by `startPinned`. @throws Error without `taskset`. */
export function pinThisProcess(core: 0 | 1): void {
  execFileSync("taskset", ["-acp", String(core), String(process.pid)], { stdio: "ignore" });
}

/** Starts a script of the benchmark on core 1, with an IPC channel. @param script path below `bench/`. */
export function startIpcProcess(script: string): PinnedProcess {
  const command = [join(import.meta.dirname, "..", script)];
  return startPinned({ core: 1, command, stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** Resolves with the process's next IPC message. @throws Error if the process exits first. */
export async function receiveMessage<T>({ child, failed }: PinnedProcess): Promise<T> {
  const [message] = await Promise.race([once(child, "message"), failed]);
  return message;
}
