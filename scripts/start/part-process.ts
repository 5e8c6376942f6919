// Starts one process of a part. supervise.ts decides when.
import { type ChildProcess, spawn } from "node:child_process";
import { get } from "node:http";
import { fileURLToPath } from "node:url";
import { readLines } from "./output/lines.ts";
import { signalGroup } from "./run-file.ts";

export interface PartProcessOptions {
  readonly entry: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Receives every line of its output. */
  print(line: string): void;
}

/** A part's process. */
export interface PartProcess {
  readonly pid: number | undefined;
  /**
   * Resolves to a description of how it ended, or why it could not be started; never rejects. When the process ends, the rest of its group is
   * killed. Its output has been read, unless a process outside the group keeps it open for more than 200 ms.
   */
  readonly ended: Promise<string>;
  /** Sends SIGTERM to the process alone. */
  terminate(): void;
  /** Sends SIGKILL to its whole process group. */
  kill(): void;
}

/** A process that has loaded its code and replaces the running process when it is activated. */
export interface StandbyProcess extends PartProcess {
  /** Resolves to true once its code is loaded, to false if it ends before. */
  readonly loaded: Promise<boolean>;
  /** Runs main.ts. Call it once, after `loaded` has resolved to true. */
  activate(): void;
  /** Resolves to true once it listens, on the same port as the process that it replaces; to false if it ends before. */
  readonly listening: Promise<boolean>;
}

/** Whether two processes may listen on one port (SO_REUSEPORT), so that no connection is refused during a restart. */
export const portsAreShared = process.platform === "linux";

const host = fileURLToPath(new URL("part-host.ts", import.meta.url));
const readyTimeoutMs = 1_000;
const outputGraceMs = 200;

export function startProcess(options: PartProcessOptions): PartProcess {
  return toPartProcess(spawnHost([options.entry], options));
}

export function startStandby(options: PartProcessOptions): StandbyProcess {
  const child = spawnHost([options.entry, "standby"], options);
  const process_ = toPartProcess(child);
  const waitForMessage = (expected: string) =>
    new Promise<boolean>((resolve) => {
      child.on("message", (message) => message === expected && resolve(true));
      void process_.ended.finally(() => resolve(false));
    });
  const [loaded, listening] = [waitForMessage("loaded"), waitForMessage("listening")];
  return { ...process_, loaded, listening, activate: () => child.send("activate", () => {}) };
}

/** Whether this URL responds with status 200 within a second. Never rejects. */
export function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: readyTimeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(false));
  });
}

// Detached: the process leads its own process group, so that Ctrl-C in the terminal signals only the supervisor, which stops
// the parts in its order.
function spawnHost(args: readonly string[], { cwd, environment, print }: PartProcessOptions): ChildProcess {
  const stdio = ["ignore", "pipe", "pipe", "ipc"] as const;
  const child = spawn(process.execPath, [host, ...args], { cwd, env: environment, detached: true, stdio: [...stdio] });
  for (const stream of [child.stdout, child.stderr]) if (stream) readLines(stream, print);
  return child;
}

function toPartProcess(child: ChildProcess): PartProcess {
  const { pid } = child;
  const kill = () => pid !== undefined && signalGroup(pid, "SIGKILL");
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      kill(); // Ends child processes that it may have started.
      const ending = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
      child.once("close", () => resolve(ending));
      setTimeout(() => resolve(ending), outputGraceMs).unref(); // A process that left the group may keep the output open.
    });
    child.once("error", (error) => resolve(`could not be started (${error.message})`));
  });
  return { pid, ended, kill, terminate: () => child.kill("SIGTERM") };
}
