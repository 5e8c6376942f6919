// The steps of `npm start`: check what can prevent a start, start PostgreSQL and the parts, wait until they are ready, print the
// banner, and run the dev loop until the signal. Then everything is stopped.
import { join } from "node:path";
import { ConfigError } from "@tributary/kit/process/env";
import { renderBanner } from "./output/banner.ts";
import { migrateService, prepareDatabases, type Seeding } from "./databases.ts";
import { databaseUrl, environmentOf } from "./environments.ts";
import { type StartContext, type StartContextOptions, createStartContext } from "./start-context.ts";
import { readOptions, type StartOptions, usage } from "./options.ts";
import { entryOf, isService, type Part, type PartName, parts, urlOf } from "./parts.ts";
import { type SupervisedPostgres, supervisePostgres } from "./postgres.ts";
import { watchedFolders } from "./dev-loop/change-plan.ts";
import { StartError } from "./start-error.ts";
import { createSupervisedPart, type SupervisedPart } from "./supervise.ts";
import { publishCommitted } from "./published-files.ts";
import { createDevLoop, type DevLoop } from "./dev-loop/dev-loop.ts";

export interface RunOptions extends StartContextOptions {
  readonly args: readonly string[];
  readonly loadSeeding: () => Promise<Seeding>;
  /** Aborting it stops the platform. */
  readonly signal: AbortSignal;
  /** Receives a function that kills all processes at once. */
  setKill(kill: () => void): void;
}

/** The parts of the platform that have been started. */
interface RunningPlatform {
  readonly startContext: StartContext;
  readonly supervised: ReadonlyMap<PartName, SupervisedPart>;
  readonly loop: DevLoop;
  postgres: SupervisedPostgres | undefined;
}

const readyTimeoutMs = 20_000;
const stableMs = 30_000;
// Together with PostgreSQL's 5 s this is below the 10 s within which Ctrl-C must stop everything.
const stopGraceMs = 4_000;

/** Runs the platform until the signal. Resolves to the exit code when all processes have ended and all ports are free. */
export async function runPlatform(o: RunOptions): Promise<number> {
  try {
    const options = readOptions(o.args);
    if (options.help) o.write(usage);
    else await runWith(options, o);
    return 0;
  } catch (error) {
    if (o.signal.aborted) return 0; // Errors during a stop are its consequence.
    if (!(error instanceof StartError || error instanceof ConfigError)) throw error;
    o.write(`${error.message}\n`);
    return error instanceof StartError ? error.exitCode : 1;
  }
}

async function runWith(options: StartOptions, o: RunOptions): Promise<void> {
  const startedMs = performance.now();
  const startContext = await createStartContext(o, options);
  const chosen = parts.filter(({ name }) => options.only.includes(name));
  const supervised = new Map(chosen.map((part) => [part.name, supervisePart(part, startContext, o.root)] as const));
  const loop = createLoop(startContext, supervised, o.root);
  const running: RunningPlatform = { startContext, supervised, loop, postgres: undefined };
  o.setKill(() => killAll(running));
  try {
    await startAll(running, options, o);
    const notReady = await waitForAll(running, o.signal);
    const names = chosen.map(({ name }) => name);
    const tookMs = performance.now() - startedMs;
    const hasPostgres = running.postgres !== undefined;
    startContext.output.raw(
      renderBanner({ ports: startContext.partContext.ports, running: names, notReady, tookMs, hasPostgres }),
    );
    loop.start();
    await untilAborted(o.signal);
    startContext.output.line("start", "stopping");
  } finally {
    await stopAll(running);
  }
}

async function startAll(running: RunningPlatform, options: StartOptions, o: RunOptions): Promise<void> {
  const { startContext, supervised } = running;
  publishCommitted(o.root, startContext.partContext.dataDir);
  // Gateway, REST proxy and issuer need no database: they load their code while PostgreSQL starts.
  for (const part of supervised.values()) if (!isService(part.name)) part.start();
  if (startContext.postgresFolder !== undefined) await startDatabases(running, startContext.postgresFolder, options, o);
  o.signal.throwIfAborted();
  for (const part of supervised.values()) if (isService(part.name)) part.start();
}

async function startDatabases(
  running: RunningPlatform,
  directory: string,
  options: StartOptions,
  o: RunOptions,
): Promise<void> {
  const { partContext, output } = running.startContext;
  const print = (name: string, line: string) => output.line(name, line);
  const postgres = await supervisePostgres({
    directory,
    port: partContext.ports.postgres,
    print: (line) => print("postgres", line),
  });
  running.postgres = postgres;
  const preparing = prepareDatabases({
    root: o.root,
    superuserUrl: postgres.superuserUrl,
    secrets: partContext.secrets,
    loadSeeding: o.loadSeeding,
    scale: options.scale,
    replaceable: options.only.filter(isService),
    print,
  });
  preparing.catch(() => {}); // After an abort its rejection is not awaited: it fails because PostgreSQL stops.
  await Promise.race([preparing, untilAborted(o.signal)]);
}

function supervisePart(part: Part, { partContext, output, runFile }: StartContext, root: string): SupervisedPart {
  return createSupervisedPart({
    name: part.name,
    entry: join(root, entryOf(part)),
    cwd: root,
    environment: environmentOf(part.name, partContext),
    readyUrl: `${urlOf(partContext.ports[part.name])}/health/ready`,
    print: (line) => output.line(part.name, line),
    onProcess: (pid, state) => (state === "started" ? runFile.add(part.name, pid) : runFile.remove(pid)),
    stableMs,
    stopGraceMs,
  });
}

function createLoop(startContext: StartContext, supervised: RunningPlatform["supervised"], root: string): DevLoop {
  const { partContext, output } = startContext;
  const print = (name: string, line: string) => output.line(name, line);
  return createDevLoop({
    root,
    dataDir: partContext.dataDir,
    folders: watchedFolders.map((folder) => join(root, folder)),
    parts: supervised,
    migrate: (service) => migrateService(service, databaseUrl(service, partContext), { root, print }),
    print,
    debounceMs: 60,
    readyTimeoutMs,
    gatewaySwapMs: 1_000,
  });
}

/** Resolves to the parts that are not ready within 20 s. They keep running. */
async function waitForAll({ supervised }: RunningPlatform, signal: AbortSignal): Promise<PartName[]> {
  const waiting = [...supervised].map(async ([name, part]) =>
    (await part.waitUntilReady(readyTimeoutMs)) ? [] : [name],
  );
  const unready = await Promise.race([Promise.all(waiting), untilAborted(signal)]);
  signal.throwIfAborted();
  return (unready ?? []).flat();
}

/** Stops the parts before PostgreSQL, which they use. */
async function stopAll({ startContext, supervised, postgres, loop }: RunningPlatform): Promise<void> {
  const stopping = [...supervised.values()].map((part) => part.stop());
  await Promise.all([...stopping, loop.close()]);
  await postgres?.stop();
  startContext.runFile.release();
}

function killAll({ supervised, postgres }: RunningPlatform): void {
  for (const part of supervised.values()) part.kill();
  postgres?.kill();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
