import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { devNull } from "node:os";
import { join } from "node:path";
import { suiteFolder } from "./suite.ts";

const repository = join(import.meta.dirname, "../..");

/** The suite's origin and the cache in front of it, in two processes. */
export interface CacheProcesses {
  readonly originUrl: string;
  readonly cacheUrl: string;
  stop(): Promise<void>;
}

/** @throws Error if one of the two does not listen. */
export async function startCacheProcesses(): Promise<CacheProcesses> {
  // The suite reads its settings from the variables that npm sets for scripts.
  const settings = { npm_config_protocol: "http", npm_config_port: "0", npm_config_pidfile: devNull };
  const origin = await start(suiteFolder, "server/server.mjs", settings);
  const settingsOfCache = { PORT: "0", ORIGIN: origin.url };
  const cache = await start(repository, "rest-proxy/src/cache/standalone/main.ts", settingsOfCache).catch(
    async (error: unknown) => {
      await end(origin.child);
      throw error;
    },
  );
  return {
    originUrl: origin.url,
    cacheUrl: cache.url,
    stop: async () => void (await Promise.all([end(cache.child), end(origin.child)])),
  };
}

async function start(cwd: string, file: string, settings: Readonly<Record<string, string>>) {
  const env = { ...process.env, ...settings };
  const child = spawn(process.execPath, [file], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  return { child, url: `http://127.0.0.1:${await portOf(child, file)}` };
}

/** Both print a line that ends with the port once they listen. Later output is discarded. */
function portOf(child: ChildProcess, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-1_000);
      const [, port] = /(\d+)\/?\n/.exec(output) ?? [];
      if (port !== undefined) resolve(port);
    });
    child.once("exit", (code) => reject(new Error(`${file} ended with exit code ${code}: ${output}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
