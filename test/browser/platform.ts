import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parts } from "../../scripts/start/parts.ts";
import { pickPorts, portVariables } from "../start/started.ts";

export interface Platform {
  /** The gateway's address, without a path. */
  readonly url: string;
  /** The REST proxy's address, without a path. */
  readonly restUrl: string;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const partVariables = parts.map(({ portVariable }) => portVariable);
const readyTimeoutMs = 90_000;
const pollMs = 200;
const outputCharsMax = 8_000;

/**
 * Runs `npm start` with free ports and an empty data folder.
 * @throws Error with the last output if the platform is not ready in time
 */
export async function startPlatform(environment: NodeJS.ProcessEnv): Promise<Platform> {
  const dataDir = mkdtempSync(join(tmpdir(), "tributary-browser-"));
  chmodSync(dataDir, 0o755); // If this process is root, PostgreSQL runs as another user and needs access.
  const ports = portVariables(await pickPorts());
  const child = spawn(process.execPath, [join(root, "scripts/start.ts")], {
    cwd: root,
    env: { ...environment, ...ports, DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const readOutput = collectOutput(child);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    rmSync(dataDir, { recursive: true, force: true });
  };
  stopOnSignals(stop);
  try {
    await waitUntilReady(
      child,
      partVariables.map((name) => `http://127.0.0.1:${ports[name]}/health/ready`),
    );
  } catch (error) {
    await stop();
    throw new Error(`The platform did not become ready. Its output:\n${readOutput()}`, { cause: error });
  }
  const [url, restUrl] = ["GATEWAY_PORT", "REST_PROXY_PORT"].map((name) => `http://127.0.0.1:${ports[name]}`);
  return { url: url ?? "", restUrl: restUrl ?? "", stop };
}

/** Signals to this process do not reach the platform's processes. */
function stopOnSignals(stop: () => Promise<void>): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)));
}

async function waitUntilReady(child: ChildProcess, urls: readonly string[]): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  for (const url of urls) {
    while (!(await isReady(url))) {
      if (child.exitCode !== null) throw new Error(`It exited with ${child.exitCode}.`);
      if (performance.now() > deadline) throw new Error(`${url} was not ready after ${readyTimeoutMs} ms.`);
      await wait(pollMs);
    }
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function collectOutput(child: ChildProcess): () => string {
  let output = "";
  const append = (text: string) => (output = (output + text).slice(-outputCharsMax));
  child.stdout?.setEncoding("utf8").on("data", append);
  child.stderr?.setEncoding("utf8").on("data", append);
  return () => output;
}
