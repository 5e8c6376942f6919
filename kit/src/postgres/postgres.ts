import pg from "pg";
import { ConfigError } from "../process/env.ts";
import { AppError } from "../errors/app-error.ts";
import type { WritePosition } from "../feed/position.ts";
import { addToWriteScope } from "./write-scope.ts";
import { NoConnection } from "./connecting.ts";
import { createPool, type PoolOptions } from "./pool.ts";

/** Runs named SQL statements. The name is that of the prepared statement and its name in telemetry. */
export interface Queryable {
  rows<Row>(name: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface Writer extends Queryable {
  /**
   * Like `rows`, for a statement that changes rows and ends with its `returning` list. Adds to that list the position of the write in the service's
   * feed, so that the client's receipt costs no further statement. One `write` per transaction is sufficient.
   */
  write<Row>(name: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface Database extends Writer {
  /**
   * Runs the work in one transaction. After a deadlock or a serialization failure `work` is called again, at most twice, so its side effects
   * besides SQL must be idempotent.
   */
  transaction<T>(work: (transaction: Writer) => Promise<T>): Promise<T>;
  /**
   * Whether the database responds within the limits of the pool. While all connections are in use, a statement of any request that succeeds is
   * sufficient: a replica that is only busy remains ready. Never rejects.
   */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PooledDatabase extends Database {
  /** The current state of the pool, for metrics. */
  readPool(): PoolState;
}

/** Open and idle connections, and waiting requests. */
export interface PoolState {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface DatabaseOptions extends PoolOptions {
  /** Called for every named statement, before it runs; not for `begin`, `commit` and `rollback`. */
  readonly onStatement?: (name: string) => void;
  /** Called after each commit of a `write`. */
  readonly onCommit?: () => void;
  /**
   * Wraps every statement, including the wait for a connection. For a transaction also `acquire` (only that wait), `begin`, and `commit` or
   * `rollback`.
   */
  readonly aroundStatement?: <T>(name: string, run: () => Promise<T>) => Promise<T>;
}

const deadlocksMax = 2;

/** Added to the `returning` list of a `write`. */
const positionColumns = `pg_current_xact_id()::text as "writeXid", (select id::text from feed_epoch) as "writeEpoch"`;

interface PositionColumns {
  readonly writeXid: string;
  readonly writeEpoch: string | null;
}

/**
 * A pool of connections with a bound on every wait. Temporary failures of the database become AppError SERVICE_UNAVAILABLE; any other
 * failure is a bug and is rethrown unchanged.
 */
export function createDatabase(o: DatabaseOptions): PooledDatabase {
  const pool = createPool(o);
  const around = o.aroundStatement ?? ((_, run) => run());
  /** Confirms each pending check of reachability. */
  const reachabilityChecks = new Set<() => void>();
  const confirmReachable = () => reachabilityChecks.forEach((confirm) => confirm());

  async function use<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.acquire();
    let lost: Error | undefined;
    try {
      const result = await run(client);
      confirmReachable();
      return result;
    } catch (error) {
      if (isConnectionLost(error)) lost = error;
      throw error;
    } finally {
      pool.release(client, lost);
    }
  }

  /** Called after a commit. @param position undefined if no `write` has changed a row. */
  function reportCommitted(position: WritePosition | undefined): void {
    if (position === undefined) return;
    addToWriteScope(position);
    o.onCommit?.();
  }

  /**
   * @param onWrite called with the position of each `write` that has changed a row.
   * @param acquired the connection of a transaction. Without it, each statement acquires a connection.
   */
  function writerFor(onWrite: (position: WritePosition) => void, acquired?: pg.PoolClient): Writer {
    return createWriter(onWrite, (name, text, values) => {
      o.onStatement?.(name);
      const query = { name, text, values: [...values] };
      return around(name, () => (acquired ? acquired.query(query) : use((client) => client.query(query))));
    });
  }

  async function runTransaction<T>(work: (transaction: Writer) => Promise<T>): Promise<T> {
    const client = await around("acquire", () => pool.acquire());
    let lost: Error | undefined;
    let written: WritePosition | undefined;
    try {
      await around("begin", () => client.query("begin"));
      const result = await work(writerFor((position) => void (written = position), client));
      await around("commit", () => client.query("commit"));
      confirmReachable();
      reportCommitted(written);
      return result;
    } catch (error) {
      // The connection returns to the pool only if the transaction has certainly ended. A lost connection gets no rollback: the caller would
      // wait for the rollback as long as for the statement before.
      if (isConnectionLost(error)) lost = error;
      else await around("rollback", () => client.query("rollback")).catch((reason: Error) => (lost = reason));
      throw error;
    } finally {
      pool.release(client, lost);
    }
  }

  const outsideTransaction = writerFor(reportCommitted);
  return {
    rows: (name, text, values) => translateErrors(() => outsideTransaction.rows(name, text, values)),
    write: (name, text, values) => translateErrors(() => outsideTransaction.write(name, text, values)),
    transaction: (work) => translateErrors(() => retryDeadlocks(() => runTransaction(work))),
    isReachable() {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const confirm = () => resolve(true);
      reachabilityChecks.add(confirm);
      const checked = use((client) => client.query("select 1")).then(confirm, () => resolve(false));
      void checked.then(() => reachabilityChecks.delete(confirm));
      return promise;
    },
    readPool: () => pool.readState(),
    close: () => pool.close(),
  };
}

/** @param run runs one statement. */
function createWriter(
  onWrite: (position: WritePosition) => void,
  run: (name: string, text: string, values: readonly unknown[]) => Promise<{ readonly rows: readonly unknown[] }>,
): Writer {
  return {
    async rows<Row>(name: string, text: string, values: readonly unknown[] = []) {
      return (await run(name, text, values)).rows as readonly Row[];
    },
    async write<Row>(name: string, text: string, values: readonly unknown[] = []) {
      const { rows } = await run(name, `${text}, ${positionColumns}`, values);
      const written = rows as readonly (Row & PositionColumns)[];
      const [first] = written;
      if (first) onWrite({ epoch: first.writeEpoch ?? undefined, xid: Number(first.writeXid) });
      return written.map(({ writeEpoch: _epoch, writeXid: _xid, ...row }) => row as Row);
    },
  };
}

/** Whether the error is a violation of this constraint. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

/**
 * Requires settings with which the database cannot lose acknowledged writes.
 * @throws ConfigError that names the setting.
 */
export async function requireDurability(database: Queryable): Promise<void> {
  const [settings] = await database.rows<{ fsync: string; synchronous_commit: string }>(
    "durability",
    "select current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit",
  );
  for (const [name, value] of Object.entries(settings ?? {})) {
    if (value === "off")
      throw new ConfigError([`The database has ${name} = off: it could lose acknowledged writes. Set it to on.`]);
  }
}

async function retryDeadlocks<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isDeadlock(error) || attempt >= deadlocksMax) throw error;
    }
  }
}

async function translateErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw isTemporary(error)
      ? new AppError("SERVICE_UNAVAILABLE", "The database is not reachable at the moment. Try again shortly.", {
          cause: error,
          retryAfterSeconds: 1,
          dependency: "database",
        })
      : error;
  }
}

/** A deadlock, or a serialization failure: PostgreSQL has rolled the transaction back, and it may succeed if it is repeated. */
function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40P01" || error.code === "40001");
}

/**
 * Failures that end without a change to the service: lost connections, and the PostgreSQL error classes (manual, appendix A) 08 without 08P01
 * (a protocol violation), 28 (authorization), 3D (no such database), 53, 57, 58, and 25006 (a former primary), 25P03, 40001, 40P01, 55P03.
 */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return isBroken(error);
  return /^(08(?!P01)|28|3D|53|57|58)|^(25006|25P03|40001|40P01|55P03)$/.test(error.code ?? "");
}

/** Whether the connection cannot be used any longer: it failed, or PostgreSQL has ended the session (57P, 25P03, 08). */
function isConnectionLost(error: unknown): error is Error {
  return error instanceof pg.DatabaseError ? /^(08|57P|25P03)/.test(error.code ?? "") : isBroken(error);
}

/** Whether the connection failed, not a statement. */
function isBroken(error: unknown): error is Error {
  if (error instanceof NoConnection) return true;
  if (error instanceof AppError || error instanceof pg.DatabaseError || !(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code) ||
    /timeout|terminated|Connection ended|not queryable|Query read/i.test(error.message)
  );
}
