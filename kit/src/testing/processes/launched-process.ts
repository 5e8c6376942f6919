// Launches programs as child processes, for tests, verifications and benchmarks. `npm start` has a supervisor of its own (scripts/start).
import { type ChildProcess, execFileSync, spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

export interface LaunchOptions {
  /** Default: the Node of this process. */
  readonly program?: string;
  readonly args: readonly string[];
  /** The process inherits only PATH and HOME. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Runs all threads of the process on this core, by Linux's `taskset`. */
  readonly core?: 0 | 1;
  readonly stdio?: StdioOptions;
  /** Receives what the process writes to piped stdout and stderr. */
  readonly onOutput?: (text: string) => void;
}

export interface LaunchedProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Resolves with the exit code, null if a signal ended the process. */
  readonly exited: Promise<number | null>;
  /** Rejects with the end of the output if the process exits before `end` or `stop` is called. */
  readonly failed: Promise<never>;
  isRunning(): boolean;
  recentOutput(): string;
  /** Resolves when `/health/ready` of this base URL responds with success. @throws Error with the output if the process exits, or after two minutes. */
  untilReady(url: string): Promise<void>;
  /** Sends the signal, and resolves like `exited`. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** Sends SIGTERM, after 10 s SIGKILL, and resolves when the process has exited. */
  stop(): Promise<void>;
}

/** Much longer than a start takes, for a busy machine that runs a dozen processes. */
const readyMsMax = 120_000;
const readyPollMs = 20;
const readyRequestMsMax = 1_000;
const stopMsMax = 10_000;
const outputCharsMax = 4_000;

export function launch(options: LaunchOptions): LaunchedProcess {
  const { program = process.execPath, args, environment, core, stdio = ["ignore", "pipe", "pipe"], onOutput } = options;
  const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env;
  // `taskset` replaces itself by the program, so the pid is the program's.
  const [command, ...words] =
    core === undefined ? [program, ...args] : ["taskset", "-c", String(core), program, ...args];
  const child = spawn(command, words, { env: { PATH, HOME, NODE_COMPILE_CACHE, ...environment }, stdio });
  child.on("error", () => {});
  if (child.pid === undefined) throw new Error(`${command} cannot be started.`);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-outputCharsMax);
      onOutput?.(text);
    });
  }
  const exited = once(child, "exit").then(([code]): number | null => code);
  // A pinned process that outlived this one would use the core of the next measurement.
  const kill = () => void child.kill("SIGKILL");
  if (core !== undefined) process.on("exit", kill);
  void exited.then(() => process.off("exit", kill));
  let isEnding = false;
  const failed = exited.then((code): Promise<never> => {
    if (isEnding) return new Promise(() => {});
    throw new Error(`${args.join(" ")} exited with ${code ?? child.signalCode}:\n${output}`);
  });
  failed.catch(() => {}); // Prevents an unhandled rejection while no caller awaits `failed`.
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const end = (signal: "SIGTERM" | "SIGKILL") => {
    isEnding = true;
    child.kill(signal);
    return exited;
  };
  return {
    pid: child.pid,
    child,
    exited,
    failed,
    isRunning,
    recentOutput: () => output,
    async untilReady(url) {
      const deadlineMs = performance.now() + readyMsMax;
      while (!(await Promise.race([isReady(url), failed]))) {
        if (performance.now() > deadlineMs) throw new Error(`${args.join(" ")} does not become ready:\n${output}`);
        await sleep(readyPollMs);
      }
    },
    end,
    async stop() {
      const killTimer = setTimeout(kill, stopMsMax);
      await end("SIGTERM");
      clearTimeout(killTimer);
    },
  };
}

/** Whether `/health/ready` of this base URL responds with success in time. Never throws. */
export async function isReady(url: string, timeoutMs: number = readyRequestMsMax): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(timeoutMs) });
    return response.ok;
  } catch {
    return false;
  }
}

/** Resolves with the next IPC message of the process. @throws Error if the process exits first. */
export async function receiveMessage<T>({ child, failed }: LaunchedProcess): Promise<T> {
  const [message] = await Promise.race([once(child, "message"), failed]);
  return message;
}

/** Pins all threads of this process, and each process that it launches without a `core`. @throws Error without `taskset`. */
export function pinThisProcess(core: 0 | 1): void {
  execFileSync("taskset", ["-acp", String(core), String(process.pid)], { stdio: "ignore" });
}
