// The PostgreSQL that verify:durability kills, with one database for the orders service.
import { pickFreePort } from "@tributary/kit/process/free-port";
import { ensureDatabase, type LocalPostgres, startLocalPostgres } from "@tributary/kit/local-postgres/local-postgres";
import pg from "pg";
import { killTree } from "./process-tree.ts";

export interface Cluster {
  /** The URL of the orders database, with the service's role. */
  readonly databaseUrl: string;
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Applies to every session from its next statement on. */
  setSynchronousCommit(value: "on" | "off"): Promise<void>;
  /** Ends the postmaster and its children with SIGKILL, and starts on the same files. Resolves when it accepts statements. */
  killAndRestart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a separate PostgreSQL with an empty database for orders. */
export async function startCluster(directory: string): Promise<Cluster> {
  const port = await pickFreePort();
  // PostgreSQL's default settings: fsync and synchronous_commit are on.
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
