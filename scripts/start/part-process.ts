import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
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
  /** Resolves, in words, to how it ended; by then its whole group has. */
  readonly gone: Promise<string>;
  /** Asks it to end. */
  terminate(): void;
  /** Ends its whole group at once. */
  kill(): void;
}

/** One that has loaded its code and waits for `begin`. */
export interface StandbyProcess extends PartProcess {
  /** False when its code does not load; then it has ended. */
  readonly loaded: Promise<boolean>;
  begin(): void;
}

const standby = fileURLToPath(new URL("standby.ts", import.meta.url));
const readyAnswerMs = 1_000;

export function startProcess(options: PartProcessOptions): PartProcess {
  return toPartProcess(spawnNode([options.entry], false, options));
}

export function startStandby(options: PartProcessOptions): StandbyProcess {
  const child = spawnNode([standby, options.entry], true, options);
  const process_ = toPartProcess(child);
  const message = once(child, "message").then(
    () => true,
    () => false,
  );
  const loaded = Promise.race([message, process_.gone.then(() => false)]);
  return { ...process_, loaded, begin: () => child.send("begin", () => {}) };
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
function spawnNode(args: readonly string[], hasChannel: boolean, o: PartProcessOptions): ChildProcess {
  const child = spawn(process.execPath, args, {
    cwd: o.cwd,
    env: o.environment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", ...(hasChannel ? (["ipc"] as const) : [])],
  });
  for (const stream of [child.stdout, child.stderr]) if (stream) readLines(stream, o.say);
  return child;
}

function toPartProcess(child: ChildProcess): PartProcess {
  const { pid } = child;
  const kill = () => pid !== undefined && signalGroup(pid, "SIGKILL");
  const gone = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      kill(); // What it may have started itself.
      resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`);
    });
    child.once("error", (error) => resolve(`could not be started (${error.message})`));
  });
  return { pid, gone, kill, terminate: () => child.kill("SIGTERM") };
}
