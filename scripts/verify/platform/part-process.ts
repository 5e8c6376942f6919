// Starts, ends and restarts processes of the services, the gateway, the REST proxy and the purger for platform.ts and single verifications.
// `npm start` has its own supervisor (scripts/start).
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The folder of a process, relative to the repository's root. */
export type PartFolder = `services/${string}` | "gateway" | "rest-proxy" | "infra/purger";

/** Much longer than a start takes, for a busy machine that runs a dozen processes. */
const readyTimeoutMs = 120_000;
const readyRequestTimeoutMs = 1_000;
const pollMs = 20;
const outputCharsMax = 4_000;

/** A process of a service, the gateway, the REST proxy or the purger. It is not restarted when it crashes. */
export interface PartProcess {
  /** Base URL. */
  readonly url: string;
  /** Sends the signal. Resolves with the exit code once the process has ended; null if a signal ended it. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** Stops the process with SIGSTOP, or continues it with SIGCONT. A stopped process accepts connections and sends nothing. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Starts the process again after `end`. Resolves when it is ready. */
  start(): Promise<void>;
  /** Ends the process with SIGKILL, waits for `beforeStart`, and starts it again. Resolves when it is ready. */
  killAndRestart(beforeStart?: () => Promise<void>): Promise<void>;
}

/** The whole environment of a process: it inherits no variable. */
export type Environment = Readonly<Record<string, string>>;

/** The keys that the gateway and the REST proxy require in production. The services of a verification have the same `FEED_KEYS`. */
export const endpointKeys = {
  FEED_KEYS: "feed-key-for-verifications",
  CONSISTENCY_KEYS: "consistency-key-for-verifications",
};

/** Applies all pending migrations to a service's database. */
export async function migrateService(folder: PartFolder, environment: Environment): Promise<void> {
  const migration = spawnMain(folder, { environment }, ["migrate"]);
  const [exitCode] = (await once(migration.child, "close")) as [number | null];
  if (exitCode !== 0) throw new Error(`The migration of ${folder} failed:\n${migration.recentOutput()}`);
}

export interface ProcessOptions {
  readonly environment: Environment;
  /** Receives the output of the process. */
  readonly onOutput?: (text: string) => void;
  /** Registers a function that kills the process, also while it is not ready yet. */
  readonly onCleanup?: (cleanUp: () => unknown) => void;
}

/**
 * Starts a process whose environment makes it listen at `url`, and waits until it is ready. A service's database must be migrated before.
 * @throws Error with the output if it is not ready within two minutes.
 */
export async function startProcess(folder: PartFolder, url: string, options: ProcessOptions): Promise<PartProcess> {
  let currentChild = await spawnUntilReady(folder, url, options);
  const start = async () => {
    currentChild = await spawnUntilReady(folder, url, options);
  };
  return {
    url,
    end: (signal) => endChild(currentChild, signal),
    signal: (signal) => void currentChild.kill(signal),
    start,
    async killAndRestart(beforeStart) {
      await endChild(currentChild, "SIGKILL");
      await beforeStart?.();
      await start();
    },
  };
}

async function spawnUntilReady(folder: PartFolder, url: string, options: ProcessOptions): Promise<ChildProcess> {
  const { child, recentOutput } = spawnMain(folder, options);
  options.onCleanup?.(() => endChild(child, "SIGKILL"));
  const deadlineMs = performance.now() + readyTimeoutMs;
  while (isRunning(child) && performance.now() < deadlineMs) {
    if (await isReady(url)) return child;
    await sleep(pollMs);
  }
  await endChild(child, "SIGKILL");
  throw new Error(`${folder} does not become ready:\n${recentOutput()}`);
}

/** @param args of main.ts; none starts the server. `recentOutput` returns the last 4,000 characters of the output. */
function spawnMain(folder: PartFolder, options: ProcessOptions, args: readonly string[] = []) {
  const mainFile = fileURLToPath(new URL(`../../../${folder}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [mainFile, ...args], {
    env: options.environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let recentOutput = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      recentOutput = (recentOutput + text).slice(-outputCharsMax);
      options.onOutput?.(text);
    });
  }
  return { child, recentOutput: () => recentOutput };
}

/** Whether `/health/ready` of this base URL responds with success within `timeoutMs`. Never throws. */
export async function isReady(url: string, timeoutMs: number = readyRequestTimeoutMs): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(timeoutMs) });
    return response.ok;
  } catch {
    return false;
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function endChild(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
  if (isRunning(child)) {
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
  return child.exitCode;
}
