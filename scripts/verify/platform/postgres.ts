import { pickFreePort } from "@tributary/kit/process/free-port";
import {
  ensureDatabase,
  type LocalPostgres,
  removeLocalPostgres,
  startLocalPostgres,
} from "@tributary/kit/local-postgres/local-postgres";
import { withClient } from "@tributary/kit/postgres/client";
import type { VerificationRun } from "../verification.ts";

export interface PlatformPostgres {
  /** Creates a database whose role and password have its name. @returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Runs a statement in one database as superuser. */
  query<Row extends object>(database: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Starts the server again on the same files. Resolves when it accepts statements. */
  start(): Promise<void>;
  /**
   * SIGQUIT is PostgreSQL's immediate shutdown: all of its processes exit at once, and the next start recovers from the log, as after SIGKILL, which
   * would leave its child processes behind.
   */
  crash(): Promise<void>;
}

/** Starts PostgreSQL with its default settings, so fsync and synchronous_commit are on. Removed when the verification ends. */
export async function startPostgres(directory: string, { onCleanup }: VerificationRun): Promise<PlatformPostgres> {
  onCleanup(() => removeLocalPostgres(directory));
  const port = await pickFreePort();
  const startServer = () => startLocalPostgres({ directory, port, log: () => {} });
  let server: LocalPostgres = await startServer();
  // The same after every start: the port and the data folder remain.
  const { superuserUrl } = server;
  onCleanup(() => server.stop());
  return {
    createDatabase: (name) => ensureDatabase(superuserUrl, { name, role: name, password: name }),
    query: <Row extends object>(database: string, text: string, values: readonly unknown[] = []) =>
      withClient(new URL(`/${database}`, superuserUrl).href, async (client) => {
        const { rows } = await client.query<Row>(text, [...values]);
        return rows;
      }),
    async start() {
      server = await startServer();
    },
    async crash() {
      process.kill(server.pid, "SIGQUIT");
      await server.exited;
    },
  };
}
