import { type ChildProcess, spawn } from "node:child_process";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "./backoff.ts";
import { readLines } from "./lines.ts";
import { signalGroup } from "./run-file.ts";

export interface PartOptions {
  readonly name: string;
  readonly entry: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Answers 200 once the part takes requests. */
  readonly readyUrl: string;
  /** Gets what the part says, and what we say about it. */
  say(line: string): void;
  /** The process's id whenever there is a new one; undefined when it has ended. */
  onProcess(pid: number | undefined): void;
  /** After so long without a crash the next one counts as the first. */
  readonly stableMs: number;
  /** How long it may take to end before its group is killed. */
  readonly stopGraceMs: number;
}

/** One process that is kept running until it is told to stop. */
export interface SupervisedPart {
  readonly name: string;
  /** Once. */
  start(): void;
  /** Ends the process and starts it again; one restart at a time. Resolves when the new one is started, not when ready. */
  restart(): Promise<void>;
  /** For good. Resolves when the process and its group are gone. */
  stop(): Promise<void>;
  /** The hard way, at once. */
  kill(): void;
  /** True when it is ready, false when that takes longer, or it has been stopped. */
  waitUntilReady(timeoutMs: number): Promise<boolean>;
}

const readyPollMs = 30;
const readyAnswerMs = 1_000;

export function createSupervisedPart(options: PartOptions): SupervisedPart {
  const { name, say } = options;
  const alive = new Set<ChildProcess>();
  let current: { readonly child: ChildProcess; readonly gone: Promise<void> } | undefined;
  let again: NodeJS.Timeout | undefined;
  let failures = 0;
  let isStopped = false;

  function launch(): void {
    if (isStopped) return;
    const startedMs = performance.now();
    const child = spawnPart(options);
    alive.add(child);
    options.onProcess(child.pid);
    const gone = afterwards(child, startedMs);
    current = { child, gone };
  }

  async function afterwards(child: ChildProcess, startedMs: number): Promise<void> {
    const how = await onceGone(child);
    alive.delete(child);
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL"); // What it may have started itself.
    options.onProcess(undefined);
    if (current?.child !== child) return; // We ended it.
    current = undefined;
    startAgainLater(how, performance.now() - startedMs);
  }

  function startAgainLater(how: string, upMs: number): void {
    failures = upMs >= options.stableMs ? 1 : failures + 1;
    const delayMs = backoffMs(failures);
    say(`${how}; starting it again in ${delayMs} ms`);
    again = setTimeout(launch, delayMs);
  }

  async function end(): Promise<void> {
    clearTimeout(again);
    const ending = current;
    current = undefined;
    if (ending === undefined) return;
    ending.child.kill("SIGTERM");
    const timer = setTimeout(() => {
      say(`does not end within ${options.stopGraceMs} ms; killing it`);
      ending.child.kill("SIGKILL");
    }, options.stopGraceMs);
    await ending.gone;
    clearTimeout(timer);
  }

  return {
    name,
    start: launch,
    async restart() {
      await end();
      failures = 0;
      launch();
    },
    stop() {
      isStopped = true;
      return end();
    },
    kill() {
      isStopped = true;
      clearTimeout(again);
      for (const { pid } of alive) if (pid !== undefined) signalGroup(pid, "SIGKILL");
    },
    async waitUntilReady(timeoutMs) {
      for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await sleep(readyPollMs)) {
        if (isStopped) return false;
        if (await isReady(options.readyUrl)) return true;
      }
      return false;
    },
  };
}

// Detached: a group of its own, so that Ctrl-C in the terminal reaches us alone and we decide what ends when.
function spawnPart({ entry, cwd, environment, say }: PartOptions): ChildProcess {
  const child = spawn(process.execPath, [entry], {
    cwd,
    env: environment,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  readLines(child.stdout, say);
  readLines(child.stderr, say);
  return child;
}

function onceGone(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`));
    child.once("error", (error) => resolve(`could not be started (${error.message})`));
  });
}

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: readyAnswerMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once("timeout", () => request.destroy());
    request.once("error", () => resolve(false));
  });
}
