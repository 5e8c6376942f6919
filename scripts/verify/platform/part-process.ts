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
  /** Sends the signal. Resolves with the exit code once the process has ended; null if the signal ended it. */
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
  const [code] = (await once(migration.child, "close")) as [number | null];
  if (code !== 0) throw new Error(`The migration of ${folder} failed:\n${migration.recentOutput()}`);
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
export async function startProcess(folder: PartFolder, url: string, o: ProcessOptions): Promise<PartProcess> {
  let running = await startOnce(folder, url, o);
  const start = async () => void (running = await startOnce(folder, url, o));
  return {
    url,
    end: (signal) => end(running, signal),
    signal: (signal) => void running.kill(signal),
    start,
    async killAndRestart(beforeStart) {
      await end(running, "SIGKILL");
      await beforeStart?.();
      await start();
    },
  };
}

async function startOnce(folder: PartFolder, url: string, o: ProcessOptions): Promise<ChildProcess> {
  const { child, recentOutput } = spawnMain(folder, o);
  o.onCleanup?.(() => end(child, "SIGKILL"));
  const deadline = performance.now() + readyTimeoutMs;
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  while (isRunning() && performance.now() < deadline) {
    if (await isReady(url)) return child;
    await sleep(pollMs);
  }
  await end(child, "SIGKILL");
  throw new Error(`${folder} does not become ready:\n${recentOutput()}`);
}

function spawnMain(
  folder: PartFolder,
  { environment, onOutput = () => {} }: ProcessOptions,
  args: readonly string[] = [],
) {
  const main = fileURLToPath(new URL(`../../../${folder}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [main, ...args], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-outputCharsMax);
      onOutput(text);
    });
  }
  return { child, recentOutput: () => output };
}

/** Whether `/health/ready` of this base URL responds with success within `timeoutMs`. Never throws. */
export async function isReady(url: string, timeoutMs: number = readyRequestTimeoutMs): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(timeoutMs) })).ok;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
  return child.exitCode;
}
