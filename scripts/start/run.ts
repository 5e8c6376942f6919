import { join } from "node:path";
import { ConfigError } from "@tributary/kit/process/env";
import { renderBanner } from "./banner.ts";
import { migrateService, prepareDatabases, type Seeding } from "./databases.ts";
import { databaseUrl, environmentOf } from "./environments.ts";
import { type Ground, type GroundOptions, takeGround } from "./ground.ts";
import { readOptions, type StartOptions, usage } from "./options.ts";
import { entryOf, isService, type Part, type PartName, parts, urlOf } from "./parts.ts";
import { type SupervisedPostgres, supervisePostgres } from "./postgres.ts";
import { watchedFolders } from "./reaction.ts";
import { StartError } from "./start-error.ts";
import { createSupervisedPart, type SupervisedPart } from "./supervise.ts";
import { publishCommitted } from "./supergraph.ts";
import { createTeamLoop, type TeamLoop } from "./team-loop.ts";

export interface RunOptions extends GroundOptions {
  readonly args: readonly string[];
  readonly loadSeeding: () => Promise<Seeding>;
  /** Aborted when everything is to end. */
  readonly signal: AbortSignal;
  /** Receives the hard way to end everything, for whoever cannot wait. */
  onKillable(kill: () => void): void;
}

/** What is running so far. It ends in the order in which it depends on one another. */
interface Running {
  readonly ground: Ground;
  readonly supervised: ReadonlyMap<PartName, SupervisedPart>;
  readonly loop: TeamLoop;
  postgres: SupervisedPostgres | undefined;
}

const readyTimeoutMs = 20_000;
const stableMs = 30_000;
// Together with PostgreSQL's 5 s this stays below the ten seconds within which Ctrl-C has to end all.
const stopGraceMs = 4_000;

/** Runs the platform until the signal. Resolves to the process's exit code, with everything ended and every port free. */
export async function runPlatform(o: RunOptions): Promise<number> {
  try {
    const options = readOptions(o.args);
    if (options.help) o.write(usage);
    else await runWith(options, o);
    return 0;
  } catch (error) {
    if (o.signal.aborted) return 0; // Whatever failed, failed because we are ending.
    if (!(error instanceof StartError || error instanceof ConfigError)) throw error;
    o.write(`${error.message}\n`);
    return error instanceof StartError ? error.exitCode : 1;
  }
}

async function runWith(options: StartOptions, o: RunOptions): Promise<void> {
  const startedMs = performance.now();
  const ground = await takeGround(o, options);
  const chosen = parts.filter(({ name }) => options.only.includes(name));
  const supervised = new Map(chosen.map((part) => [part.name, supervisePart(part, ground, o.root)] as const));
  const loop = createLoop(ground, supervised, o.root);
  const running: Running = { ground, supervised, loop, postgres: undefined };
  o.onKillable(() => kill(running));
  try {
    await bringUp(running, options, o);
    const late = await waitForAll(running, o.signal);
    const names = chosen.map(({ name }) => name);
    const tookMs = performance.now() - startedMs;
    const hasPostgres = running.postgres !== undefined;
    ground.output.raw(renderBanner({ ports: ground.context.ports, running: names, late, tookMs, hasPostgres }));
    loop.begin();
    await untilAborted(o.signal);
    ground.output.line("start", "stopping");
  } finally {
    await end(running);
  }
}

async function bringUp(running: Running, options: StartOptions, o: RunOptions): Promise<void> {
  const { ground, supervised } = running;
  publishCommitted(o.root, ground.context.dataDir);
  // The doors need no database: they load their code while PostgreSQL is made ready.
  for (const part of supervised.values()) if (!isService(part.name)) part.start();
  if (ground.postgresFolder !== undefined) await startDatabases(running, ground.postgresFolder, options, o);
  o.signal.throwIfAborted();
  for (const part of supervised.values()) if (isService(part.name)) part.start();
}

async function startDatabases(
  running: Running,
  directory: string,
  options: StartOptions,
  o: RunOptions,
): Promise<void> {
  const { context, output } = running.ground;
  const say = (name: string, line: string) => output.line(name, line);
  const postgres = await supervisePostgres({
    directory,
    port: context.ports.postgres,
    say: (line) => say("postgres", line),
  });
  running.postgres = postgres;
  const preparing = prepareDatabases({
    root: o.root,
    superuserUrl: postgres.superuserUrl,
    secrets: context.secrets,
    loadSeeding: o.loadSeeding,
    scale: options.scale,
    replaceable: options.only.filter(isService),
    say,
  });
  preparing.catch(() => {}); // When we are to end nobody waits for it: PostgreSQL ends, and it with PostgreSQL.
  await Promise.race([preparing, untilAborted(o.signal)]);
}

function supervisePart(part: Part, { context, output, runFile }: Ground, root: string): SupervisedPart {
  return createSupervisedPart({
    name: part.name,
    entry: join(root, entryOf(part)),
    cwd: root,
    environment: environmentOf(part.name, context),
    readyUrl: `${urlOf(context.ports[part.name])}/health/ready`,
    say: (line) => output.line(part.name, line),
    onProcess: (pid, state) => (state === "started" ? runFile.add(part.name, pid) : runFile.remove(pid)),
    stableMs,
    stopGraceMs,
  });
}

function createLoop(ground: Ground, supervised: Running["supervised"], root: string): TeamLoop {
  const { context, output } = ground;
  const say = (name: string, line: string) => output.line(name, line);
  return createTeamLoop({
    root,
    dataDir: context.dataDir,
    folders: watchedFolders.map((folder) => join(root, folder)),
    parts: supervised,
    migrate: (service) => migrateService(service, databaseUrl(service, context), { root, say }),
    say,
    debounceMs: 60,
    readyTimeoutMs,
    gatewaySwapMs: 1_000,
  });
}

/** The parts that are not ready in time; they are kept running all the same. */
async function waitForAll({ supervised }: Running, signal: AbortSignal): Promise<PartName[]> {
  const waiting = [...supervised].map(async ([name, part]) =>
    (await part.waitUntilReady(readyTimeoutMs)) ? [] : [name],
  );
  const late = await Promise.race([Promise.all(waiting), untilAborted(signal)]);
  signal.throwIfAborted();
  return (late ?? []).flat();
}

async function end({ ground, supervised, postgres, loop }: Running): Promise<void> {
  const stopping = [...supervised.values()].map((part) => part.stop());
  await Promise.all([...stopping, loop.close()]);
  await postgres?.stop();
  ground.runFile.release();
}

function kill({ supervised, postgres }: Running): void {
  for (const part of supervised.values()) part.kill();
  postgres?.kill();
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
