import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, type LocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import pg from "pg";
import { killTree } from "./process-tree.ts";

export interface Cluster {
  /** The orders database, as its own role opens it. */
  readonly databaseUrl: string;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** For every session, from its next statement on. */
  setSynchronousCommit(value: "on" | "off"): Promise<void>;
  /** kill -9 of the postmaster and its children, and a start on the same files. Resolves when it takes statements again. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

/** A PostgreSQL of its own with an empty database for orders. */
export async function startCluster(directory: string): Promise<Cluster> {
  const port = await pickFreePort();
  // The settings are PostgreSQL's own: fsync and synchronous_commit are on.
  const start = () => startLocalPostgres({ directory, port, log: () => {} });
  let postgres: LocalPostgres = await start();
  const { superuserUrl } = postgres;
  const databaseUrl = await ensureDatabase(superuserUrl, { name: "orders", role: "orders", password: "orders" });
  const superuser = new URL(superuserUrl);
  superuser.pathname = "/orders";

  async function query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const client = new pg.Client({ connectionString: superuser.href });
    client.on("error", () => {});
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  return {
    databaseUrl,
    query,
    async setSynchronousCommit(value) {
      await query(`alter system set synchronous_commit = ${value}`);
      await query("select pg_reload_conf()");
    },
    async killAndRestart() {
      killTree(postgres.pid);
      await postgres.exited;
      postgres = await start();
    },
    stop: () => postgres.stop(),
  };
}
