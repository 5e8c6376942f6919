import pg from "pg";
import { ConfigError } from "./env.ts";
import { AppError } from "./errors.ts";

/** What a store needs: named statements with values, rows out. A statement's name is its prepared name and its name in telemetry. */
export interface Queryable {
  rows<Row>(name: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface Database extends Queryable {
  /** Runs the work in one transaction; a deadlock is tried again, at most twice. What `work` does besides SQL must bear that. */
  transaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T>;
  /** True when the database answers. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PooledDatabase extends Database {
  readPool(): PoolState;
}

/** Connections, and who waits for one, at this moment. */
export interface PoolState {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly connectionsMax: number;
  /** After this PostgreSQL ends a statement. */
  readonly statementTimeoutMs: number;
  /** After this PostgreSQL gives up waiting for a lock. */
  readonly lockTimeoutMs: number;
  /** How long a request waits for a free connection. */
  readonly acquireTimeoutMs: number;
  /** Told of every statement sent, by name. */
  readonly onStatement?: (name: string) => void;
  /**
   * Surrounds every statement sent, with the wait for a connection. Of a transaction also `acquire`, that wait by itself, `begin`, and
   * `commit` or `rollback`.
   */
  readonly aroundStatement?: <T>(name: string, run: () => Promise<T>) => Promise<T>;
  /** Told of connections that break while idle. */
  readonly onError?: (error: Error) => void;
}

const deadlocksMax = 2;

/**
 * A pool of connections with a bound on every wait. What the database cannot do now is an AppError SERVICE_UNAVAILABLE;
 * any other failure is a bug and stays as it is.
 */
export function createDatabase(o: DatabaseOptions): PooledDatabase {
  const pool = new pg.Pool({
    connectionString: o.url,
    application_name: o.applicationName,
    max: o.connectionsMax,
    connectionTimeoutMillis: o.acquireTimeoutMs,
    statement_timeout: o.statementTimeoutMs,
    lock_timeout: o.lockTimeoutMs,
    idle_in_transaction_session_timeout: o.statementTimeoutMs * 2,
    // A server that is gone without a word does not hold a request for longer than a statement may take.
    query_timeout: o.statementTimeoutMs + 1_000,
    keepAlive: true,
  });
  const around = o.aroundStatement ?? ((_, run) => run());
  const report = o.onError ?? (() => {});
  pool.on("error", report);
  // A client that is checked out has no listener of its own, and a dying server would end the process.
  pool.on("connect", (client) => void client.on("error", report));

  const on = (client: pg.Pool | pg.PoolClient): Queryable => ({
    async rows<Row>(name: string, text: string, values: readonly unknown[] = []) {
      o.onStatement?.(name);
      const result = await around(name, () => client.query({ name, text, values: [...values] }));
      return result.rows as readonly Row[];
    },
  });

  async function runTransaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    const client = await around("acquire", () => pool.connect());
    let broken: Error | undefined;
    try {
      await around("begin", () => client.query("begin"));
      const result = await work(on(client));
      await around("commit", () => client.query("commit"));
      return result;
    } catch (error) {
      // The connection goes back to the pool only when it is known to be out of the transaction. One that has broken or fallen silent
      // is not asked again: the caller would wait as long as for the statement before.
      if (isBroken(error)) broken = error;
      else await around("rollback", () => client.query("rollback")).catch((reason: Error) => (broken = reason));
      throw error;
    } finally {
      client.release(broken ?? false);
    }
  }

  return {
    rows: (name, text, values) => translated(() => on(pool).rows(name, text, values)),
    transaction: (work) => translated(() => retryingDeadlocks(() => runTransaction(work))),
    isReachable: () =>
      pool.query("select 1").then(
        () => true,
        () => false,
      ),
    readPool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  };
}

/** Whether an error is PostgreSQL's refusal of a value that is there already, under that constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

/**
 * Refuses a database that may forget what it acknowledged.
 * @throws ConfigError naming the setting.
 */
export async function requireDurability(database: Queryable): Promise<void> {
  const [settings] = await database.rows<{ fsync: string; synchronous_commit: string }>(
    "durability",
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit",
  );
  for (const [name, value] of Object.entries(settings ?? {})) {
    if (value === "off")
      throw new ConfigError([`The database has ${name} = off: it would forget writes that were confirmed.`]);
  }
}

async function retryingDeadlocks<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isDeadlock(error) || attempt >= deadlocksMax) throw error;
    }
  }
}

async function translated<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isPassing(error)
      ? new AppError("SERVICE_UNAVAILABLE", "The data cannot be reached at the moment. Try again shortly.", {
          cause: error,
          retryAfterSeconds: 1,
        })
      : error;
  }
}

function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40P01" || error.code === "40001");
}

/**
 * Classes 08 (but 08P01, a misuse of the protocol), 28 (not let in), 3D (not there), 53, 57, 58, and 25006 (a former primary), 25P03,
 * 40001, 40P01, 55P03 (PostgreSQL, appendix A), and what broke below them. All of them end without a change to the service.
 */
function isPassing(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return isBroken(error);
  return /^(08(?!P01)|28|3D|53|57|58)|^(25006|25P03|40001|40P01|55P03)$/.test(error.code ?? "");
}

/** Whether it was the connection that failed, not a statement. */
function isBroken(error: unknown): error is Error {
  if (error instanceof AppError || error instanceof pg.DatabaseError || !(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code) ||
    /timeout|terminated|Connection ended|not queryable|Query read/i.test(error.message)
  );
}
