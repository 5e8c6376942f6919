import pg from "pg";
import { ConfigError } from "../process/env.ts";
import { AppError } from "../errors/app-error.ts";
import { NoConnection } from "./connecting.ts";
import { createPool, type PoolOptions } from "./pool.ts";

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

/** Connections that stand, and who waits for one, at this moment. */
export interface PoolState {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface DatabaseOptions extends PoolOptions {
  /** Told of every statement sent, by name. */
  readonly onStatement?: (name: string) => void;
  /**
   * Surrounds every statement sent, with the wait for a connection. Of a transaction also `acquire`, that wait by itself, `begin`, and
   * `commit` or `rollback`.
   */
  readonly aroundStatement?: <T>(name: string, run: () => Promise<T>) => Promise<T>;
}

const deadlocksMax = 2;

/**
 * A pool of connections with a bound on every wait. What the database cannot do now is an AppError SERVICE_UNAVAILABLE;
 * any other failure is a bug and stays as it is.
 */
export function createDatabase(o: DatabaseOptions): PooledDatabase {
  const pool = createPool(o);
  const around = o.aroundStatement ?? ((_, run) => run());

  async function use<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.acquire();
    let lost: Error | undefined;
    try {
      return await run(client);
    } catch (error) {
      if (isConnectionLost(error)) lost = error;
      throw error;
    } finally {
      pool.release(client, lost);
    }
  }

  const on = (acquired?: pg.PoolClient): Queryable => ({
    async rows<Row>(name: string, text: string, values: readonly unknown[] = []) {
      o.onStatement?.(name);
      const query = { name, text, values: [...values] };
      const result = await around(name, () =>
        acquired ? acquired.query(query) : use((client) => client.query(query)),
      );
      return result.rows as readonly Row[];
    },
  });

  async function runTransaction<T>(work: (transaction: Queryable) => Promise<T>): Promise<T> {
    const client = await around("acquire", () => pool.acquire());
    let lost: Error | undefined;
    try {
      await around("begin", () => client.query("begin"));
      const result = await work(on(client));
      await around("commit", () => client.query("commit"));
      return result;
    } catch (error) {
      // The connection goes back to the pool only when it is known to be out of the transaction. One that has broken or fallen silent
      // is not asked again: the caller would wait as long as for the statement before.
      if (isConnectionLost(error)) lost = error;
      else await around("rollback", () => client.query("rollback")).catch((reason: Error) => (lost = reason));
      throw error;
    } finally {
      pool.release(client, lost);
    }
  }

  return {
    rows: (name, text, values) => translated(() => on().rows(name, text, values)),
    transaction: (work) => translated(() => retryingDeadlocks(() => runTransaction(work))),
    isReachable: () =>
      use((client) => client.query("select 1")).then(
        () => true,
        () => false,
      ),
    readPool: () => pool.readState(),
    close: () => pool.close(),
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
          dependency: "database",
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

/** Whether the connection is of no more use after this: it failed, or PostgreSQL has ended the session (57P, 25P03, 08). */
function isConnectionLost(error: unknown): error is Error {
  return error instanceof pg.DatabaseError ? /^(08|57P|25P03)/.test(error.code ?? "") : isBroken(error);
}

/** Whether it was the connection that failed, not a statement. */
function isBroken(error: unknown): error is Error {
  if (error instanceof NoConnection) return true;
  if (error instanceof AppError || error instanceof pg.DatabaseError || !(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code) ||
    /timeout|terminated|Connection ended|not queryable|Query read/i.test(error.message)
  );
}
