import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@tributary/kit/process/env";
import { endLocalPostgresLeftover, removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { subgraphs } from "../../supergraph/subgraphs.ts";
import type { StartOptions } from "./options.ts";
import { createOutput, type Output } from "./output.ts";
import type { PartContext } from "./environments.ts";
import { dataFolder, isService, partNames, urlOf } from "./parts.ts";
import { findTakenPorts, readPorts } from "./ports.ts";
import { type RunFile, takeRunFile } from "./run-file.ts";
import { loadSecrets } from "./secrets.ts";
import { requireServiceFiles } from "./service-files.ts";
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
 * Checks everything that can prevent a start before anything is started: the services' files, the data folder, which
 * only one start at a time may use, and the ports. Processes that a killed start left behind are ended first.
 * @throws StartError or ConfigError.
 */
export async function takeGround(o: GroundOptions, options: StartOptions): Promise<Ground> {
  requireServiceFiles(o.root, subgraphs);
  const ports = readPorts(o.environment);
  const dataDir = dataFolder(o.root, o.environment);
  const names = ["start", "postgres", "seed", ...partNames];
  const output = createOutput({ write: o.write, isColoured: o.isColoured, names });
  mkdirSync(dataDir, { recursive: true });
  const runFile = takeRunFile(dataDir, options.only.includes("issuer") ? { issuerUrl: urlOf(ports.issuer) } : {});
  try {
    const folder = join(dataDir, "postgres");
    await endLeftovers(runFile, folder, output);
    const hasDatabases = options.only.some(isService);
    const taken = await findTakenPorts([...options.only, ...(hasDatabases ? (["postgres"] as const) : [])], ports);
    if (taken.length > 0) throw new StartError(taken.join("\n"));
    if (options.fresh && hasDatabases) removeLocalPostgres(folder);
    else if (options.fresh)
      output.line("start", `--fresh deletes nothing: none of ${options.only.join(", ")} has a database`);
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
