import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface GatewayProcess {
  readonly child: ChildProcess;
  /** Standard output, a parsed log line each. */
  readonly log: readonly Record<string, unknown>[];
  readonly stderr: () => string;
  /** Resolves with the first log line that fits, past or to come. */
  logged(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
}

/** `node gateway/src/main.ts` with nothing in its environment but this. */
export function spawnGateway(environment: Record<string, string>, nodeOptions: readonly string[] = []): GatewayProcess {
  const main = join(import.meta.dirname, "../../src/main.ts");
  return spawnNode([...nodeOptions, main], environment);
}

/** A gateway that may use `loadTimeoutMs` of CPU time to load a supergraph. */
export function spawnGatewayWithLimit(file: string, loadTimeoutMs: number): GatewayProcess {
  return spawnNode([fileURLToPath(new URL("gateway-process.ts", import.meta.url)), file, String(loadTimeoutMs)], {});
}

function spawnNode(options: readonly string[], environment: Record<string, string>): GatewayProcess {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const child = spawn(process.execPath, options, {
    env: { PATH, NODE_COMPILE_CACHE, PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    log.push(JSON.parse(line));
    for (const check of waiting) check();
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = once(child, "close").then(([code]) => code as number | null);
  const logged = (fits: (line: Record<string, unknown>) => boolean) =>
    new Promise<Record<string, unknown>>((resolve, reject) => {
      const check = () => {
        const line = log.find(fits);
        if (line) resolve(line);
      };
      waiting.add(check);
      check();
      void exited.then((code) => reject(new Error(`The gateway ended with ${code}: ${stderr}`)));
    });
  return { child, log, stderr: () => stderr, logged, exited };
}

export function writeSupergraph(sdl: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "gateway-process-")), "supergraph.graphql");
  writeFileSync(file, sdl);
  return file;
}
