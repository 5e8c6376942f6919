// The steps of `npm start`, in their order. Afterwards everything is stopped.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { InputError } from "@tributary/kit/errors/input-error";
import { renderBanner } from "./banner.ts";
import { migrateService, prepareDatabases, type Seeding } from "./databases.ts";
import { databaseUrl, environmentOf } from "./environments.ts";
import type { Keys } from "./keys.ts";
import { type StartContext, type StartContextOptions, prepareStart } from "./start-context.ts";
import { readOptions, type StartOptions } from "./options.ts";
import { discoverRemote } from "./against/remote-link.ts";
import {
  entryOf,
  externalOf,
  isService,
  type Part,
  type PartName,
  parts,
  portOf,
  type ServiceName,
  services,
  urlOf,
} from "./parts.ts";
import { type SupervisedPostgres, supervisePostgres } from "./postgres.ts";
import { watchedFolders } from "./dev-loop/change-plan.ts";
import { CommandError } from "../command-line.ts";
import { createSupervisedPart, type SupervisedPart } from "./supervised-part.ts";
import { publishCommitted } from "./published-files.ts";
import { createDevLoop, type DevLoop, type DevLoopOptions } from "./dev-loop/dev-loop.ts";
import { createTypeCheck, type TypeCheck } from "./dev-loop/type-check.ts";

export interface RunOptions extends StartContextOptions {
  readonly args: readonly string[];
  readonly loadSeeding: () => Promise<Seeding>;
  readonly keys: Keys | undefined;
  readonly signal: AbortSignal;
  setKill(kill: () => void): void;
}

/** Created for one start; must be stopped. */
interface Platform {
  readonly startContext: StartContext;
  readonly supervised: ReadonlyMap<PartName, SupervisedPart>;
  readonly loop: DevLoop;
  readonly typeCheck: TypeCheck;
  /** Set by `startDatabases`; undefined when no part needs a database. */
  postgres: Promise<SupervisedPostgres> | undefined;
}

/** After it the banner says which parts are not ready; it is printed again when they are. */
const readyTimeoutMs = 20_000;
const lateReadyPollMs = 200;
// PostgreSQL stops after the parts, within 5 s. The sum is less than the 10 s within which Ctrl-C must stop everything.
const stopGraceMs = 4_000;
/** How long the banner waits for the parts' first log lines: a part buffers lines for 250 ms (kit/src/process/log.ts), or more if it is busy. */
const logDelayMs = 500;

/** Resolves to the exit code when all processes have ended and all ports are free. */
export async function runPlatform(runOptions: RunOptions): Promise<number> {
  try {
    const startOptions = readOptions(runOptions.args, runOptions.environment);
    await runUntilAborted(startOptions, runOptions);
    return 0;
  } catch (error) {
    if (runOptions.signal.aborted) return 0; // Errors during a stop are its consequence.
    if (!(error instanceof InputError)) throw error;
    runOptions.write(`${error.message}\n`);
    return error instanceof CommandError ? error.exitCode : 1;
  }
}

async function runUntilAborted(startOptions: StartOptions, runOptions: RunOptions): Promise<void> {
  const { root, environment, signal, keys } = runOptions;
  const { only, substitutes } = startOptions;
  const startedMs = performance.now();
  const remote = startOptions.remote && (await discoverRemote(startOptions.remote, { environment, signal }));
  const startContext = await prepareStart(runOptions, startOptions, () => remote?.issuer());
  const chosen = parts.filter(({ name }) => only.includes(name) || hasSubstitute(name, substitutes));
  const supervised = new Map(chosen.map((part) => [part.name, supervisePart(part, startContext, root)] as const));
  const { dataDir } = startContext.partContext;
  const typeCheck = createTypeCheck({ root, dataDir, print: (line) => startContext.output.line("types", line) });
  const loop = createLoop(startContext, { supervised, root, onApplied: () => typeCheck.request() });
  const platform: Platform = { startContext, supervised, loop, typeCheck, postgres: undefined };
  runOptions.setKill(() => killAll(platform));
  try {
    await Promise.race([startAll(platform, startOptions, runOptions), untilAborted(signal)]);
    signal.throwIfAborted();
    let tookMs = performance.now() - startedMs;
    await sleep(logDelayMs, undefined, { signal });
    const printBanner = () => startContext.output.raw(bannerOf(platform, tookMs, keys !== undefined));
    keys?.listen(printBanner);
    printBanner();
    typeCheck.request();
    const localParts = [...supervised].filter(([name]) => only.includes(name)).map(([, part]) => part);
    void remote?.watch(localParts, (line) => startContext.output.line("start", line));
    if (findNotReady(platform).length > 0) {
      await untilReadyOrAborted(platform, signal);
      tookMs = performance.now() - startedMs;
      if (!signal.aborted) printBanner();
    }
    await untilAborted(signal);
    startContext.output.line("start", "stopping");
  } finally {
    await stopAll(platform);
  }
}

/** Resolves when every part is ready or has failed. */
async function startAll(platform: Platform, startOptions: StartOptions, runOptions: RunOptions): Promise<void> {
  const { startContext, supervised, loop } = platform;
  const startParts = async (isChosen: (name: PartName) => boolean) => {
    const chosen = [...supervised].filter(([name]) => isChosen(name));
    await Promise.all(chosen.map(([, part]) => part.start()));
  };
  publishCommitted(runOptions.root, startContext.partContext.dataDir);
  // Gateway, REST proxy, issuer and substitutes need no database: they load their code while PostgreSQL starts. First `loop.start` publishes the
  // schemas on disk, which may differ from the committed supergraph.
  const needsDatabase = (name: PartName) => isService(name) && startOptions.only.includes(name);
  const othersPrepared = Promise.all([
    loop.start(),
    supervised.has("gateway") ? bundleGraphiql(platform, runOptions) : undefined,
  ]);
  const othersStarted = othersPrepared.then(() => startParts((name) => !needsDatabase(name)));
  if (startContext.postgresFolder !== undefined)
    await startDatabases(platform, startContext.postgresFolder, startOptions, runOptions);
  await Promise.all([othersStarted, startParts(needsDatabase)]);
}

/**
 * Before the gateway, which reads the page once. Without a change of the sources it takes 50 ms of CPU time, while PostgreSQL starts. If it
 * fails, the gateway serves the previous bundle.
 */
function bundleGraphiql({ startContext }: Platform, { signal }: RunOptions): Promise<void> {
  const script = fileURLToPath(new URL("../bundle-graphiql.mjs", import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [script], { signal }, (_error, stdout, stderr) => {
      for (const line of `${stdout}${stderr}`.split("\n")) if (line !== "") startContext.output.line("gateway", line);
      resolve();
    });
  });
}

function findNotReady({ supervised }: Pick<Platform, "supervised">): readonly PartName[] {
  return [...supervised].filter(([, part]) => !part.isReady()).map(([name]) => name);
}

/** Without a limit: a part that fails becomes ready when its code is corrected. */
async function untilReadyOrAborted(platform: Platform, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && findNotReady(platform).length > 0) await sleep(lateReadyPollMs);
}

function bannerOf(platform: Platform, tookMs: number, hasKeys: boolean): string {
  const { startContext, supervised } = platform;
  return renderBanner({
    ports: startContext.partContext.ports,
    running: [...supervised.keys()],
    notReady: findNotReady(platform),
    tookMs,
    substitutes: startContext.partContext.substitutes,
    remote: startContext.partContext.remote,
    issuerUrl: startContext.partContext.findRemoteIssuer()?.url,
    hasKeys,
  });
}

async function startDatabases(
  platform: Platform,
  directory: string,
  startOptions: StartOptions,
  { root, loadSeeding }: RunOptions,
): Promise<void> {
  const { partContext, output } = platform.startContext;
  platform.postgres = supervisePostgres({
    directory,
    port: partContext.ports.postgres,
    print: (line) => output.line("postgres", line),
  });
  const { superuserUrl } = await platform.postgres;
  await prepareDatabases({
    root,
    superuserUrl,
    secrets: partContext.secrets,
    loadSeeding,
    scale: startOptions.scale,
    fresh: startOptions.fresh === "all" ? [] : startOptions.fresh, // prepareStart has deleted all.
    services: startOptions.only.filter(isService),
    print: output.line,
  });
}

const substituteEntry = join("scripts", "start", "substitute", "main.ts");

function supervisePart(part: Part, { partContext, output, runFile }: StartContext, root: string): SupervisedPart {
  const isSubstitute = hasSubstitute(part.name, partContext.substitutes);
  const command = isSubstitute ? undefined : part.external?.command;
  const readyPath = isSubstitute ? undefined : part.external?.healthPath;
  return createSupervisedPart({
    entry: command ?? join(root, isSubstitute ? substituteEntry : entryOf(part)),
    cwd: command ? join(root, part.folder) : root,
    // A getter, because each restart reads it again: the issuer of a remote may become known after the start.
    get environment() {
      return environmentOf(part.name, partContext);
    },
    readyUrl: `${urlOf(portOf(partContext.ports, part.name))}${readyPath ?? "/health/ready"}`,
    print: (line) => output.line(part.name, line),
    onProcess: (pid, change) => {
      if (change === "started") runFile.add(part.name, pid);
      else runFile.remove(pid);
    },
    readyTimeoutMs,
    stopGraceMs,
  });
}

function hasSubstitute(name: PartName, substitutes: StartOptions["substitutes"]): boolean {
  return isService(name) && substitutes.has(name);
}

interface LoopOptions extends Pick<Platform, "supervised">, Pick<DevLoopOptions, "root" | "onApplied"> {}

function createLoop(startContext: StartContext, { supervised, root, onApplied }: LoopOptions): DevLoop {
  const { partContext, output, readSources } = startContext;
  const { substitutes } = partContext;
  // A saved file does not restart a substitute of the remote: the service's code runs at the remote.
  const isAffectedBySaves = (name: PartName) => !isService(name) || substitutes.get(name) !== "remote";
  const hasDatabase = (name: ServiceName) =>
    supervised.has(name) && !substitutes.has(name) && externalOf(name) === undefined;
  const print = output.line;
  return createDevLoop({
    root,
    dataDir: partContext.dataDir,
    services,
    folders: watchedFolders.map((folder) => join(root, folder)),
    parts: new Map([...supervised].filter(([name]) => isAffectedBySaves(name))),
    readSources,
    migrate: async (service) => {
      if (hasDatabase(service)) await migrateService(service, databaseUrl(service, partContext), { root, print });
    },
    print,
    onApplied,
    debounceMs: 60,
    gatewaySwapMs: 1_000,
  });
}

/** Stops the parts first, then PostgreSQL, because the services use it. Releases the data folder last. */
async function stopAll({ startContext, supervised, postgres, loop, typeCheck }: Platform): Promise<void> {
  typeCheck.close();
  const stopping = [...supervised.values()].map((part) => part.stop());
  await Promise.all([...stopping, loop.close()]);
  const server = await postgres?.catch(() => undefined); // startAll reports why PostgreSQL did not start.
  await server?.stop();
  startContext.runFile.release();
}

function killAll({ supervised, postgres, typeCheck }: Platform): void {
  typeCheck.close();
  for (const part of supervised.values()) part.kill();
  postgres?.then((server) => server.kill()).catch(() => {}); // PostgreSQL did not start.
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
