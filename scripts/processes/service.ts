import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** By folder below the repository's root. */
export type ServiceFolder = "services/posts" | "services/comments" | "services/orders" | "rest-proxy";

const readyTimeoutMs = 30_000;
const pollMs = 20;
const keptCharsMax = 4_000;

export interface Service {
  /** kill -9, and a start of the same. Resolves when it is ready again. */
  killAndRestart(beforeStart?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** A service's own process, over a migrated database. @throws Error when it does not become ready in 30 s. */
export async function startService(folder: ServiceFolder, url: string, environment: Environment): Promise<Service> {
  const migration = spawnMain(folder, environment, ["migrate"]);
  const [code] = (await once(migration.child, "close")) as [number | null];
  if (code !== 0) throw new Error(`The migration of ${folder} failed:\n${migration.lastWords()}`);
  return startProcess(folder, url, environment);
}

/** A process without a database. @throws Error when it does not become ready in 30 s. */
export async function startProcess(folder: ServiceFolder, url: string, environment: Environment): Promise<Service> {
  let running = await startOnce(folder, url, environment);

  return {
    async killAndRestart(beforeStart) {
      await end(running, "SIGKILL");
      await beforeStart?.();
      running = await startOnce(folder, url, environment);
    },
    stop: () => end(running, "SIGTERM"),
  };
}

async function startOnce(folder: ServiceFolder, url: string, environment: Environment): Promise<ChildProcess> {
  const { child, lastWords } = spawnMain(folder, environment, []);
  const deadline = performance.now() + readyTimeoutMs;
  while (child.exitCode === null && performance.now() < deadline) {
    if (await isReady(url)) return child;
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

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
