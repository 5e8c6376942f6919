import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** By folder below the repository's root. */
export type ServiceFolder = `services/${"users" | "posts" | "comments" | "orders"}` | "gateway" | "rest-proxy";

const readyTimeoutMs = 30_000;
const pollMs = 20;
const keptCharsMax = 4_000;

export interface Service {
  /** Base address. */
  readonly url: string;
  /** What it said last, on both its streams. */
  lastWords(): string;
  /** Resolves once the process is gone, with its exit code; null for one that a signal ended. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
  /** The same again after `end`. Resolves when it is ready. */
  start(): Promise<void>;
  /** kill -9, and a start of the same. Resolves when it is ready again. */
  killAndRestart(beforeStart?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** Brings the database of a service to its newest migration. */
export async function migrateService(folder: ServiceFolder, environment: Environment): Promise<void> {
  const migration = spawnMain(folder, environment, ["migrate"]);
  const [code] = (await once(migration.child, "close")) as [number | null];
  if (code !== 0) throw new Error(`The migration of ${folder} failed:\n${migration.lastWords()}`);
}

/** A service's own process, over a migrated database. @throws Error when it does not become ready in 30 s. */
export async function startService(folder: ServiceFolder, url: string, environment: Environment): Promise<Service> {
  await migrateService(folder, environment);
  return startProcess(folder, url, environment);
}

/** A process, whose database is migrated if it has one. @throws Error when it does not become ready in 30 s. */
export async function startProcess(folder: ServiceFolder, url: string, environment: Environment): Promise<Service> {
  let running = await startOnce(folder, url, environment);
  const start = async () => void (running = await startOnce(folder, url, environment));

  return {
    url,
    lastWords: () => running.lastWords(),
    end: (signal) => end(running.child, signal),
    start,
    async killAndRestart(beforeStart) {
      await end(running.child, "SIGKILL");
      await beforeStart?.();
      await start();
    },
    stop: async () => void (await end(running.child, "SIGTERM")),
  };
}

interface Running {
  readonly child: ChildProcess;
  lastWords(): string;
}

async function startOnce(folder: ServiceFolder, url: string, environment: Environment): Promise<Running> {
  const running = spawnMain(folder, environment, []);
  const { child, lastWords } = running;
  const deadline = performance.now() + readyTimeoutMs;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await isReady(url)) return running;
    await sleep(pollMs);
  }
  await end(child, "SIGKILL");
  throw new Error(`${folder} does not become ready:\n${lastWords()}`);
}

function spawnMain(folder: ServiceFolder, environment: Environment, args: readonly string[]) {
  const main = fileURLToPath(new URL(`../../${folder}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [main, ...args], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-keptCharsMax)));
  }
  return { child, lastWords: () => said };
}

/** Whether it says so itself; one that says nothing for a second is not. */
export async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(1_000) })).ok;
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
