import { spawn } from "node:child_process";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { signalGroup } from "./run-file.ts";

export interface PartProcessOptions {
  /** The main.ts of a part, or a program with its arguments. */
  readonly entry: string | readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** After it the process group is killed. */
  readonly stopGraceMs: number;
  print(line: string): void;
}

export interface PartProcess {
  /** Undefined if the process could not be started. */
  readonly pid: number | undefined;
  /** How the process ended, or why it could not be started; never rejects. The rest of its group has been killed by then, and its output read. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM to the process alone; after `stopGraceMs` it kills the group. A second call does nothing. */
  terminate(): void;
  /** Sends SIGKILL to its whole process group. */
  kill(): void;
}

const hostFile = fileURLToPath(new URL("part-host.ts", import.meta.url));
const commandHostFile = fileURLToPath(new URL("command-host.ts", import.meta.url));
const responseTimeoutMs = 1_000;
const outputGraceMs = 200;

export function startProcess({ entry, cwd, environment, stopGraceMs, print }: PartProcessOptions): PartProcess {
  // Detached: the process leads its own process group, so that Ctrl-C in the terminal signals only the supervisor, which stops
  // the parts in its order. The ipc channel disconnects when the supervisor has ended, and part-host.ts then kills the group.
  const hosted = typeof entry === "string" ? [hostFile, entry] : [commandHostFile, ...entry];
  const child = spawn(process.execPath, hosted, {
    cwd,
    env: environment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on("line", print);
  const { pid } = child;
  const kill = () => {
    if (pid !== undefined) signalGroup(pid, "SIGKILL");
  };
  let graceTimer: NodeJS.Timeout | undefined;
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      clearTimeout(graceTimer);
      kill(); // Ends the rest of the group: child processes that the part has started.
      const ending = signal ? `ended by ${signal}` : `ended with exit code ${code}`;
      child.once("close", () => resolve(ending));
      setTimeout(() => resolve(ending), outputGraceMs).unref(); // A process that left the group may keep the output open.
    });
    child.once("error", (error) => resolve(`could not be started (${error.message})`));
  });
  return {
    pid,
    ended,
    kill,
    terminate() {
      if (graceTimer !== undefined) return;
      child.kill("SIGTERM");
      graceTimer = setTimeout(() => {
        print(`did not end within ${stopGraceMs} ms after SIGTERM; killing it`);
        kill();
      }, stopGraceMs);
    },
  };
}

/** Never rejects. */
export function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: responseTimeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(false));
  });
}
