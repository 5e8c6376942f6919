import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** By folder below the repository's root. */
export type ServiceFolder = `services/${"users" | "posts" | "comments" | "orders"}` | "gateway" | "rest-proxy";

/** Much longer than a start takes, for a machine that is busy with a dozen others. */
const readyTimeoutMs = 120_000;
const readyAnswerMsMax = 1_000;
const pollMs = 20;
const keptCharsMax = 4_000;

export interface Service {
  /** Base address. */
  readonly url: string;
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

/** A service's own process, over a migrated database. @throws Error when it does not become ready in two minutes. */
export async function startService(folder: ServiceFolder, url: string, environment: Environment): Promise<Service> {
  await migrateService(folder, environment);
  return startProcess(folder, url, environment);
}

/** A process, whose database is migrated if it has one; `onOutput` gets what it says. @throws Error when it does not become ready in two minutes. */
export async function startProcess(
  folder: ServiceFolder,
  url: string,
  environment: Environment,
  onOutput?: (text: string) => void,
): Promise<Service> {
  let running = await startOnce(folder, url, environment, onOutput);
  const start = async () => void (running = await startOnce(folder, url, environment, onOutput));

  return {
    url,
    end: (signal) => end(running, signal),
    start,
    async killAndRestart(beforeStart) {
      await end(running, "SIGKILL");
      await beforeStart?.();
      await start();
    },
    stop: async () => void (await end(running, "SIGTERM")),
  };
}

async function startOnce(
  folder: ServiceFolder,
  url: string,
  environment: Environment,
  onOutput?: (text: string) => void,
): Promise<ChildProcess> {
  const { child, lastWords } = spawnMain(folder, environment, [], onOutput);
  const deadline = performance.now() + readyTimeoutMs;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await isReady(url)) return child;
    await sleep(pollMs);
  }
  await end(child, "SIGKILL");
  throw new Error(`${folder} does not become ready:\n${lastWords()}`);
}

function spawnMain(
  folder: ServiceFolder,
  environment: Environment,
  args: readonly string[],
  onOutput: (text: string) => void = () => {},
) {
  const main = fileURLToPath(new URL(`../../${folder}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [main, ...args], { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-keptCharsMax);
      onOutput(text);
    });
  }
  return { child, lastWords: () => said };
}

/** Whether it says so itself; one that says nothing for so long is not. */
export async function isReady(url: string, timeoutMs: number = readyAnswerMsMax): Promise<boolean> {
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
