import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Environment } from "@tributary/kit/env";
import { endLocalPostgresLeftover, removeLocalPostgres } from "@tributary/kit/local-postgres";
import type { StartOptions } from "./options.ts";
import { createOutput, type Output } from "./output.ts";
import type { PartContext } from "./environments.ts";
import { isService, partNames } from "./parts.ts";
import { findTakenPorts, readPorts } from "./ports.ts";
import { type RunFile, takeRunFile } from "./run-file.ts";
import { loadSecrets } from "./secrets.ts";
import { StartError } from "./start-error.ts";

export interface GroundOptions {
  readonly root: string;
  readonly environment: Environment;
  readonly isColoured: boolean;
  write(text: string): void;
}

/** What one start stands on: its folder, its ports, its secrets. */
export interface Ground {
  readonly context: PartContext;
  readonly output: Output;
  readonly runFile: RunFile;
  /** Undefined when no part needs a database. */
  readonly postgresFolder: string | undefined;
}

/**
 * Takes everything that may be refused before anything is started: the data folder, on which only one may run, and the
 * ports. What a killed start left behind is ended first. Throws StartError or ConfigError.
 */
export async function takeGround(o: GroundOptions, options: StartOptions): Promise<Ground> {
  const ports = readPorts(o.environment);
  const dataDir = resolve(o.root, o.environment["DATA_DIR"] || ".data");
  const names = ["start", "postgres", "seed", ...partNames];
  const output = createOutput({ write: o.write, isColoured: o.isColoured, names });
  mkdirSync(dataDir, { recursive: true });
  const runFile = takeRunFile(dataDir);
  try {
    const folder = join(dataDir, "postgres");
    await endLeftovers(runFile, folder, output);
    const hasDatabases = options.only.some(isService);
    const taken = await findTakenPorts([...options.only, ...(hasDatabases ? (["postgres"] as const) : [])], ports);
    if (taken.length > 0) throw new StartError(taken.join("\n"));
    if (options.fresh) removeLocalPostgres(folder);
    const ambient = { NODE_COMPILE_CACHE: join(o.root, ".data", "compile-cache"), ...o.environment };
    const context = { ports, dataDir, secrets: loadSecrets(dataDir), ambient };
    return { context, output, runFile, postgresFolder: hasDatabases ? folder : undefined };
  } catch (error) {
    runFile.release();
    throw error;
  }
}

async function endLeftovers(runFile: RunFile, postgresFolder: string, output: Output): Promise<void> {
  const names = await runFile.endLeftovers();
  if (names.length > 0) output.line("start", `ended what a killed start had left: ${names.join(", ")}`);
  await endLocalPostgresLeftover(postgresFolder, (line) => output.line("postgres", line));
}
