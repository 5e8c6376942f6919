// First step of a start, before any process.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@tributary/kit/process/env";
import { endLocalPostgresLeftover, removeLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import { prepareSchemaSources, type ReadSources } from "./against/schema-sources.ts";
import type { StartOptions } from "./options.ts";
import { createOutput, type StartOutput } from "./output.ts";
import type { PartContext } from "./environments.ts";
import { dataFolder, isService, partNames, services, urlOf } from "./parts.ts";
import { findPortProblems, readPorts } from "./ports.ts";
import { type RunFile, acquireRunFile } from "./run-file.ts";
import { loadSecrets } from "./secrets.ts";
import { requireServiceFiles } from "./service-files.ts";
import { CommandError } from "../command-line.ts";

export interface StartContextOptions {
  readonly root: string;
  readonly environment: Environment;
  readonly isColoured: boolean;
  write(text: string): void;
}

export interface StartContext {
  readonly partContext: PartContext;
  readonly output: StartOutput;
  /** For each composition. */
  readonly readSources: ReadSources;
  readonly runFile: RunFile;
  /** Undefined when no part needs a database. */
  readonly postgresFolder: string | undefined;
}

/** Checks everything that can prevent a start, and ends processes that a killed start left running. @throws CommandError or ConfigError. */
export async function prepareStart(
  { root, environment, isColoured, write }: StartContextOptions,
  { only, substitutes, addresses, remote, fresh }: StartOptions,
  findRemoteIssuer: PartContext["findRemoteIssuer"],
): Promise<StartContext> {
  requireServiceFiles(root, services, substitutes);
  const ports = readPorts(environment);
  const dataDir = dataFolder(root, environment);
  const output = createOutput({ write, isColoured, names: ["start", "types", "postgres", "seed", ...partNames] });
  try {
    mkdirSync(dataDir, { recursive: true });
  } catch (cause) {
    throw new CommandError(`The data folder cannot be created (DATA_DIR): ${(cause as Error).message}`, { cause });
  }
  // `npm run token` reads it from run.json.
  const issuerUrl = only.includes("issuer") ? urlOf(ports.issuer) : findRemoteIssuer()?.url;
  const runFile = acquireRunFile(dataDir, issuerUrl, [...only, ...substitutes.keys(), ...addresses.keys()]);
  try {
    const postgresFolder = join(dataDir, "postgres");
    await endLeftovers(runFile, postgresFolder, output); // Before the ports are checked: these processes may use them.
    const hasDatabases = only.some(isService);
    const listening = [...only, ...substitutes.keys()];
    if (hasDatabases) listening.push("postgres");
    const portProblems = await findPortProblems(listening, ports);
    if (portProblems.length > 0) throw new CommandError(portProblems.join("\n"));
    if (fresh === "all" && hasDatabases) removeLocalPostgres(postgresFolder);
    else if (fresh === "all")
      output.line("start", `--fresh deletes nothing: none of ${only.join(", ")} has a database`);
    const secrets = loadSecrets(dataDir);
    const readSources = prepareSchemaSources({ root, dataDir, substitutes, print: output.line });
    const inherited = { NODE_COMPILE_CACHE: join(root, ".data", "compile-cache"), ...environment };
    const partContext = { root, ports, dataDir, secrets, inherited, substitutes, addresses, remote, findRemoteIssuer };
    return { partContext, output, readSources, runFile, postgresFolder: hasDatabases ? postgresFolder : undefined };
  } catch (error) {
    runFile.release();
    throw error;
  }
}

async function endLeftovers(runFile: RunFile, postgresFolder: string, output: StartOutput): Promise<void> {
  const names = await runFile.endLeftovers();
  if (names.length > 0) output.line("start", `ended processes that a killed start left running: ${names.join(", ")}`);
  await endLocalPostgresLeftover(postgresFolder, (line) => output.line("postgres", line));
}
