import pg from "pg";
import { ConfigError } from "../process/env.ts";
import { AppError } from "../errors/app-error.ts";
import type { WritePosition } from "../feed/position.ts";
import { addToWriteScope } from "./write-scope.ts";
import { isConnectionLost, isDeadlock, isOutdatedSession, isReadOnlySession, isTemporary } from "./failures.ts";
import { createPool, type PoolOptions } from "./pool.ts";

/** Runs named SQL statements. The name is that of the prepared statement and its name in telemetry. */
export interface Queryable {
  /**
   * Outside of a transaction, the statement is repeated, at most twice, if PostgreSQL has not run it or has rolled it back: after a deadlock or a
   * serialization failure, and on another connection after a change of the schema or a failover.
   */
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
   * Runs the work in one transaction. `work` is called again after the failures that `rows` names, so its side effects besides SQL must be
   * idempotent.
   */
  transaction<T>(work: (transaction: Writer) => Promise<T>): Promise<T>;
  /**
   * Whether the database responds within the limits of the pool. While all connections are in use, a successful statement of any request is
   * sufficient: a replica that is only busy remains ready. Never rejects.
   */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PooledDatabase extends Database {
  /** The current state of the pool, for metrics. */
  readPool(): PoolState;
}

/** `total`: open connections, the idle ones included. `waiting`: requests that wait for a connection. */
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

const repeatsMax = 2;

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
export function createDatabase(options: DatabaseOptions): PooledDatabase {
  const pool = createPool(options);
  const around = options.aroundStatement ?? ((_, run) => run());
  const reachability = createReachabilityChecks();

  async function withConnection<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.acquire();
    let connectionError: Error | undefined;
    try {
      const result = await run(client);
      reachability.confirmAll();
      return result;
    } catch (error) {
      if (isConnectionLost(error)) connectionError = error;
      pool.renewAfter(client, error);
      throw error;
    } finally {
      pool.release(client, connectionError);
    }
  }

  /** Called after a commit. @param position undefined if no `write` has changed a row. */
  function reportCommitted(position: WritePosition | undefined): void {
    if (position === undefined) return;
    addToWriteScope(position);
    options.onCommit?.();
  }

  /**
   * @param onWrite called with the position of each `write` that has changed a row.
   * @param acquired the connection of a transaction. Without it, each statement acquires a connection.
   */
  function writerFor(onWrite: (position: WritePosition) => void, acquired?: pg.PoolClient): Writer {
    return createWriter(onWrite, (name, text, values) => {
      options.onStatement?.(name);
      const query = { name, text, values: [...values] };
      return around(name, () => (acquired ? acquired.query(query) : withConnection((client) => client.query(query))));
    });
  }

  async function runTransaction<T>(work: (transaction: Writer) => Promise<T>): Promise<T> {
    const client = await around("acquire", () => pool.acquire());
    let connectionError: Error | undefined;
    let lastPosition: WritePosition | undefined;
    const recordPosition = (position: WritePosition) => {
      lastPosition = position;
    };
    try {
      await around("begin", () => client.query("begin"));
      const result = await work(writerFor(recordPosition, client));
      await around("commit", () => client.query("commit"));
      reachability.confirmAll();
      reportCommitted(lastPosition);
      return result;
    } catch (error) {
      // The connection returns to the pool only if the transaction has certainly ended. A lost connection gets no rollback: the caller would
      // wait for the rollback as long as for the statement before.
      if (isConnectionLost(error)) connectionError = error;
      else connectionError = await findError(around("rollback", () => client.query("rollback")));
      pool.renewAfter(client, error);
      throw error;
    } finally {
      pool.release(client, connectionError);
    }
  }

  const outsideTransaction = writerFor(reportCommitted);
  return {
    rows: (name, text, values) => repeatIfUndone(() => outsideTransaction.rows(name, text, values)),
    write: (name, text, values) => repeatIfUndone(() => outsideTransaction.write(name, text, values)),
    transaction: (work) => repeatIfUndone(() => runTransaction(work)),
    isReachable: () => reachability.check(() => withConnection((client) => client.query("select 1"))),
    readPool: () => pool.readState(),
    close: () => pool.close(),
  };
}

/** @returns undefined after success. */
function findError(result: Promise<unknown>): Promise<Error | undefined> {
  return result.then(
    () => undefined,
    (error: Error) => error,
  );
}

/** The pending calls of `isReachable`. */
function createReachabilityChecks() {
  const pending = new Set<() => void>();
  return {
    /** Called after every successful statement outside of a transaction, and every commit: resolves all pending checks with true. */
    confirmAll: () => pending.forEach((confirm) => confirm()),
    /** @param runStatement runs the check's own statement. If it fails before another statement succeeds, the check resolves with false. */
    check(runStatement: () => Promise<unknown>): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const confirm = () => resolve(true);
      pending.add(confirm);
      const settled = runStatement().then(confirm, () => resolve(false));
      void settled.then(() => pending.delete(confirm));
      return promise;
    },
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
      const result = await run(name, `${text}, ${positionColumns}`, values);
      const rows = result.rows as readonly (Row & PositionColumns)[];
      // All rows of a statement have the same position. Without a row, the statement has changed nothing.
      const [first] = rows;
      if (first) onWrite({ epoch: first.writeEpoch ?? undefined, xid: Number(first.writeXid) });
      return rows.map(({ writeEpoch: _epoch, writeXid: _xid, ...row }) => row as Row);
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

/** @param run one statement or one transaction. */
async function repeatIfUndone<T>(run: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await run();
    } catch (error) {
      const isUndone = isDeadlock(error) || isOutdatedSession(error) || isReadOnlySession(error);
      if (!isUndone || repeats === repeatsMax) throw toAppError(error);
    }
  }
}

function toAppError(error: unknown): unknown {
  if (!isTemporary(error)) return error;
  return new AppError("SERVICE_UNAVAILABLE", "The database is not reachable at the moment. Try again shortly.", {
    cause: error,
    retryAfterSeconds: 1,
    dependency: "database",
  });
}
