import { type ChildProcess, spawn } from "node:child_process";
import { get } from "node:http";
import { fileURLToPath } from "node:url";
import { readLines } from "./lines.ts";
import { signalGroup } from "./run-file.ts";

export interface PartProcessOptions {
  readonly entry: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Gets every line it says. */
  say(line: string): void;
}

/** A part's process. */
export interface PartProcess {
  readonly pid: number | undefined;
  /** Resolves to a description of how it ended, when its whole group has ended and its output was read. */
  readonly gone: Promise<string>;
  /** Asks it to end. */
  terminate(): void;
  /** Ends its whole group at once. */
  kill(): void;
}

/** One that waits, and takes over from the one that runs. */
export interface StandbyProcess extends PartProcess {
  /** True once its code is loaded, false when it ends before. */
  readonly loaded: Promise<boolean>;
  begin(): void;
  /** True once it listens, beside the one that it replaces; false when it ends before. */
  readonly listening: Promise<boolean>;
}

/** Whether two processes may listen on one port for a moment, so that nobody is refused while one replaces the other. */
export const portsAreShared = process.platform === "linux";

const host = fileURLToPath(new URL("part-host.ts", import.meta.url));
const readyAnswerMs = 1_000;
const outputGraceMs = 200;

export function startProcess(options: PartProcessOptions): PartProcess {
  return toPartProcess(spawnHost([options.entry], options));
}

export function startStandby(options: PartProcessOptions): StandbyProcess {
  const child = spawnHost([options.entry, "standby"], options);
  const process_ = toPartProcess(child);
  const hear = (expected: string) =>
    new Promise<boolean>((resolve) => {
      child.on("message", (message) => message === expected && resolve(true));
      void process_.gone.finally(() => resolve(false));
    });
  const [loaded, listening] = [hear("loaded"), hear("listening")];
  return { ...process_, loaded, listening, begin: () => child.send("begin", () => {}) };
}

/** Whether this address answers 200 now. */
export function isAnswering(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: readyAnswerMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(false));
  });
}

// Detached: a group of its own, so that Ctrl-C in the terminal reaches us alone and we decide what ends when.
function spawnHost(args: readonly string[], { cwd, environment, say }: PartProcessOptions): ChildProcess {
  const stdio = ["ignore", "pipe", "pipe", "ipc"] as const;
  const child = spawn(process.execPath, [host, ...args], { cwd, env: environment, detached: true, stdio: [...stdio] });
  for (const stream of [child.stdout, child.stderr]) if (stream) readLines(stream, say);
  return child;
}

function toPartProcess(child: ChildProcess): PartProcess {
  const { pid } = child;
  const kill = () => pid !== undefined && signalGroup(pid, "SIGKILL");
  const gone = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      kill(); // What it may have started itself.
      const how = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
      child.once("close", () => resolve(how));
      setTimeout(() => resolve(how), outputGraceMs).unref(); // A process that left the group may keep the output open.
    });
    child.once("error", (error) => resolve(`could not be started (${error.message})`));
  });
  return { pid, gone, kill, terminate: () => child.kill("SIGTERM") };
}
