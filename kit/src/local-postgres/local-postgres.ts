// The embedded PostgreSQL of `npm start` and of the tests. The process that starts the server is its supervisor, and must stop it.
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isPortFree, pickFreePort } from "../process/free-port.ts";
import { chooseAccount } from "./account.ts";
import { ensureReadableBinaries } from "./binaries.ts";
import { ensureCluster, placeDataFolder, readSuperuserPassword, removeDataFolder } from "./data-folder.ts";
import { endLeftover, endPostmaster, isAbandoned, writeSupervisor } from "./leftover.ts";
import { type PostgresServer, type PostgresServerOptions, spawnServer, waitUntilReady } from "./server.ts";
import { identifyProcess } from "../process/process-identity.ts";

export { ensureDatabase } from "./database.ts";

// Retried: after kill -9 the server's children hold its shared memory for a moment, and a free port may be in use by the time it listens.
const temporaryFailure = /shared memory|lock file|could not bind|could not create any TCP/;
const startAttemptsMax = 6;
const retryDelayMs = 250;

export interface LocalPostgresOptions {
  readonly directory: string;
  /** 0 chooses a free port below 32768, where the system opens no outgoing connections. */
  readonly port: number;
  /** As in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  log(line: string): void;
}

export interface LocalPostgres {
  readonly port: number;
  readonly pid: number;
  readonly superuserUrl: string;
  readonly exited: Promise<void>;
  /** Sessions end, data is written; after 5 s an immediate shutdown. */
  stop(): Promise<void>;
}

/**
 * @throws Error if the folder or the port is in use, the folder has data of another version, or the server does not start in six attempts.
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const directory = resolve(options.directory);
  const account = chooseAccount(directory);
  const binaries = ensureReadableBinaries(account);
  const folder = await placeDataFolder(directory, account, options.log);
  await ensureCluster(folder, binaries.initdb, account);
  await endLeftover(folder, options.log);
  const settings = options.settings ?? {};
  const password = readSuperuserPassword(folder);
  for (let attempt = 1; ; attempt++) {
    const port = options.port === 0 ? await pickFreePort() : options.port;
    if (!(await isPortFree(port))) throw new Error(`Port ${port} of 127.0.0.1 is in use: PostgreSQL cannot listen.`);
    const superuserUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const serverOptions = { postgres: binaries.postgres, folder, port, settings, account, log: options.log };
    try {
      return await startOnce(serverOptions, superuserUrl);
    } catch (error) {
      const mayRetry = attempt < startAttemptsMax && temporaryFailure.test(String(error));
      if (!mayRetry) throw error;
      options.log(`starting again, attempt ${attempt + 1} of ${startAttemptsMax}`);
      await sleep(retryDelayMs);
    }
  }
}

/** So that its port is free. @throws Error if the supervisor still runs. */
export async function endLocalPostgresLeftover(directory: string, log: (line: string) => void): Promise<void> {
  const path = resolve(directory);
  // `placeDataFolder` may have replaced the folder by a link to the data.
  if (existsSync(path)) await endLeftover(realpathSync(path), log);
}

/** The server may still run. False if the folder never had a supervisor. */
export function isAbandonedPostgres(directory: string): boolean {
  return isAbandoned(resolve(directory));
}

/** The server must be stopped. */
export function removeLocalPostgres(directory: string): void {
  removeDataFolder(resolve(directory));
}

/** If it fails, no server process remains. */
async function startOnce(options: PostgresServerOptions, superuserUrl: string): Promise<LocalPostgres> {
  writeSupervisor(options.folder);
  const server = spawnServer(options);
  const exited = new Promise<void>((done) => {
    server.child.once("exit", () => done());
    // The program could not be started, so there is no `exit` event.
    server.child.once("error", () => done());
  });
  try {
    await waitUntilReady(server, superuserUrl);
  } catch (error) {
    await stopServer(server, exited);
    throw error;
  }
  const pid = server.child.pid ?? 0;
  return { port: options.port, pid, superuserUrl, exited, stop: () => stopServer(server, exited) };
}

async function stopServer(server: PostgresServer, exited: Promise<void>): Promise<void> {
  const pid = server.child.pid;
  if (pid === undefined) return; // The program could not be started.
  const hasExited = server.child.exitCode !== null;
  const postmaster = hasExited ? undefined : identifyProcess(pid);
  if (postmaster) await endPostmaster(postmaster);
  await exited;
}
