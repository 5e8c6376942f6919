// Starts a service as `npm start` does, with a database and a token issuer of its own.
import { join, resolve } from "node:path";
import { ensureDatabase } from "@tributary/kit/local-postgres/local-postgres";
import { migrate } from "@tributary/kit/postgres/migrate";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { silentLog } from "@tributary/kit/process/log";
import { startTestIssuer } from "@tributary/kit/testing/issuer";
import { CommandError } from "../command-line.ts";
import { pollUntil } from "@tributary/kit/testing/poll-until";
import { seededServices, truncateAndSeed } from "../seed/seed.ts";
import { isReady, startProcess } from "../start/part-process.ts";
import { type Drain, drainService } from "./drain.ts";
import type { TestedService } from "./read-service.ts";
import type { RunningService } from "./subject.ts";

export interface StartServiceOptions extends TestedService {
  readonly root: string;
  /** Absolute: the working directory of an external service's command. */
  readonly folder: string;
  readonly postgresUrl: string;
}

export interface StartedService extends RunningService {
  stop(): Promise<void>;
}

const feedKey = "conform-feed-key-for-tests";
const cursorKey = "conform-cursor-key-for-tests";
const shutdownGraceMs = 2_500;
/** After it the process is killed. More than the grace, for a busy machine. */
const stopGraceMs = shutdownGraceMs + 5_000;
/** The first start of a service may install its packages. */
const readyMsMax = 180_000;
const readyPollMs = 20;
const outputLinesMax = 30;

/** @throws CommandError with its output, if it does not become ready. */
export async function startService(o: StartServiceOptions): Promise<StartedService> {
  const { service, contract } = o;
  const { external, name } = service;
  const entry = external ? external.command : join(o.root, service.folder, "src/main.ts");
  if (entry === undefined)
    throw new CommandError(`${name} has no external.command. Start it, and give its address: --url`);
  const [issuer, databaseUrl] = await Promise.all([startTestIssuer(), createDatabase(o)]);
  const [port, feedPort] = [await pickFreePort(), await pickFreePort()];
  const lines: string[] = [];
  const process_ = startProcess({
    entry: typeof entry === "string" ? entry : toAbsolute(entry, o.folder),
    cwd: o.folder,
    environment: {
      ...process.env,
      ...{ HOST: "127.0.0.1", PORT: String(port), PROFILE: "development", SHUTDOWN_GRACE_MS: String(shutdownGraceMs) },
      ...{ DATABASE_URL: databaseUrl, CURSOR_KEYS: cursorKey, FEED_PORT: String(feedPort), FEED_KEYS: feedKey },
      ...{ ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl },
    },
    stopGraceMs,
    print: (line) => void (lines.length < outputLinesMax ? lines.push(line) : lines.splice(0, 1, line)),
  });
  const url = `http://127.0.0.1:${port}`;
  let drained: Promise<Drain> | undefined;
  const stop = async () => {
    process_.terminate();
    await process_.ended;
    await issuer.stop();
  };
  let ending: string | undefined;
  void process_.ended.then((text) => (ending = text));
  const isReadyOrEnded = async () => ending !== undefined || (await isReady(`${url}${contract.healthPath}`));
  const isInTime = await pollUntil(isReadyOrEnded, { everyMs: readyPollMs, withinMs: readyMsMax });
  if (!isInTime || ending !== undefined) {
    await stop();
    const problem = `${name} ${ending ?? "does not become ready"}: GET ${contract.healthPath} has to respond with 200.`;
    throw new CommandError([problem, ...lines].join("\n"));
  }
  return {
    url,
    // A service of this repository always has a feed.
    feed:
      external && external.feedUrl === undefined ? undefined : { url: `http://127.0.0.1:${feedPort}`, key: feedKey },
    issuer,
    drain: () => (drained ??= drainService({ url, ...contract, ...process_ })),
    stop,
  };
}

async function createDatabase({ service, root, postgresUrl }: StartServiceOptions): Promise<string> {
  const { name, external, folder } = service;
  const unique = `conform_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const databaseUrl = await ensureDatabase(postgresUrl, { name: unique, role: unique, password: "conform" });
  if (external) return databaseUrl;
  await migrate({ databaseUrl, directory: join(root, folder, "migrations"), log: silentLog });
  // The examples of its documents are about seeded rows.
  if (seededServices.includes(name))
    await truncateAndSeed({ urls: { [name]: databaseUrl }, scale: 1, progress: () => {} });
  return databaseUrl;
}

/** A program with a path is in the folder of the contract, as for `npm start`. */
function toAbsolute([program, ...words]: readonly [string, ...string[]], folder: string): readonly string[] {
  return [program.includes("/") ? resolve(folder, program) : program, ...words];
}
