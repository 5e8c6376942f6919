// The PostgreSQL server of a platform (platform.ts). A verification can stop it, start it again and kill it.
import { pickFreePort } from "@tributary/kit/process/free-port";
import {
  ensureDatabase,
  type LocalPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "@tributary/kit/local-postgres/local-postgres";
import pg from "pg";
import type { VerificationRun } from "../verification.ts";
import { killWithChildren } from "./process-tree.ts";

export interface PlatformPostgres {
  /** Creates a database whose role and password have its name. @returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Runs a statement in one database as superuser. */
  query<Row extends object>(database: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Shuts the server down. */
  stop(): Promise<void>;
  /** Starts the server again on the same files. Resolves when it accepts statements. */
  start(): Promise<void>;
  /** Ends the server and its children with SIGKILL, and starts it again. */
  killAndRestart(): Promise<void>;
}

/** Starts PostgreSQL with its default settings, so fsync and synchronous_commit are on. Removed when the verification ends. */
export async function startPostgres(
  directory: string,
  run: Pick<VerificationRun, "onCleanup">,
): Promise<PlatformPostgres> {
  run.onCleanup(() => removeLocalPostgres(directory));
  const port = await pickFreePort();
  const startServer = () => startLocalPostgres({ directory, port, log: () => {} });
  let server: LocalPostgres = await startServer();
  // The same after every start: the port and the data folder remain.
  const { superuserUrl } = server;
  run.onCleanup(() => server.stop());
  const start = async () => {
    server = await startServer();
  };

  return {
    createDatabase: (name) => ensureDatabase(superuserUrl, { name, role: name, password: name }),
    query: (database, text, values = []) => query(superuserUrl, database, text, values),
    stop: () => server.stop(),
    start,
    async killAndRestart() {
      killWithChildren(server.pid);
      await server.exited;
      await start();
    },
  };
}

async function query<Row extends object>(
  superuserUrl: string,
  database: string,
  text: string,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: new URL(`/${database}`, superuserUrl).href });
  client.on("error", () => {}); // The server can end while the client is connected.
  await client.connect();
  try {
    const { rows } = await client.query<Row>(text, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
