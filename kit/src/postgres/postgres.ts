import { createHash } from "node:crypto";
import pg from "pg";
import { ConfigError } from "../process/env.ts";
import { AppError } from "../errors/app-error.ts";
import type { WritePosition } from "../feed/position.ts";
import { type CancellableStatement, createCancellation, findError } from "./cancellation.ts";
import { currentCaller, leftBy, requireWaiting } from "./waiting-caller.ts";
import { addToWriteScope } from "./write-scope.ts";
import {
  isBusy,
  isConnectionLost,
  isDeadlock,
  isMissingInSchema,
  isOutdatedSession,
  isReadOnlySession,
  isTemporary,
} from "./failures.ts";
import { createPool, type Pool, type PoolOptions } from "./pool.ts";

/** `name` is that of the prepared statement, and of the statement in telemetry. */
export interface Queryable {
  /**
   * Outside of a transaction it is repeated, at most twice, after a deadlock, a change of the schema or a failover, and it must only read: it is
   * cancelled when the request's caller leaves.
   * @throws CallerLeft
   */
  rows<Row>(name: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface Writer extends Queryable {
  /** For a statement that ends with its `returning` list, to which the position of the write is added for the client's receipt. */
  write<Row>(name: string, text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

export interface Database extends Writer {
  /** `work` is called again after the failures that `rows` names: its other side effects must be idempotent. */
  transaction<T>(work: (transaction: Writer) => Promise<T>): Promise<T>;
  /** While all connections are in use, a successful statement of any request is sufficient: a busy replica remains ready. Never rejects. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface PooledDatabase extends Database {
  readPool(): PoolState;
}

export interface PoolState {
  readonly total: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface DatabaseOptions extends PoolOptions {
  readonly onCommit?: () => void;
  /** Includes the wait for a connection. For a transaction also `acquire` (only that wait), `begin`, and `commit` or `rollback`. */
  readonly aroundStatement?: <T>(name: string, run: () => Promise<T>) => Promise<T>;
}

const repeatsMax = 2;

const positionColumns = `pg_current_xact_id()::text as "writeXid", (select id::text from feed_epoch) as "writeEpoch"`;

interface PositionColumns {
  readonly writeXid: string;
  readonly writeEpoch: string | null;
}

/** Temporary failures become AppError SERVICE_UNAVAILABLE; any other failure is a bug and is rethrown unchanged. */
export function createDatabase(options: DatabaseOptions): PooledDatabase {
  const pool = createPool(options);
  const around = options.aroundStatement ?? ((_, run) => run());
  const reachability = createReachabilityChecks();
  const withConnection = createStatementRunner(pool, reachability.confirmAll);

  function reportCommitted(position: WritePosition | undefined): void {
    if (position === undefined) return;
    addToWriteScope(position);
    options.onCommit?.();
  }

  function writerFor(onWrite: (position: WritePosition) => void, acquired?: pg.PoolClient): Writer {
    return createWriter(onWrite, (name, text, values, isRead) => {
      const query = { name: toPreparedName(name), text, values: [...values] };
      const run = async () => {
        if (!acquired) return withConnection((client) => (isRead ? client : beginWrite(client)).query(query), isRead);
        requireWaiting();
        return acquired.query(query);
      };
      return around(name, () => run().catch((error: unknown) => rethrowExplained(error, name)));
    });
  }

  async function runTransaction<T>(work: (transaction: Writer) => Promise<T>): Promise<T> {
    requireWaiting();
    const client = await around("acquire", () => pool.acquire());
    let connectionError: Error | undefined;
    let lastPosition: WritePosition | undefined;
    const recordPosition = (position: WritePosition) => {
      lastPosition = position;
    };
    try {
      await around("begin", () => client.query("begin"));
      const result = await work(writerFor(recordPosition, client));
      requireWaiting();
      await around("commit", () => beginWrite(client).query("commit"));
      reachability.confirmAll();
      reportCommitted(lastPosition);
      return result;
    } catch (error) {
      // A lost connection gets no rollback: the caller would wait for it as long as for the statement before.
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

/** PostgreSQL ignores what follows: two longer names would be one. */
const nameCharsMax = 63;
const nameHashChars = 16;

function toPreparedName(name: string): string {
  if (name.length <= nameCharsMax) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, nameHashChars);
  return `${name.slice(0, nameCharsMax - nameHashChars - 1)}-${hash}`;
}

function rethrowExplained(error: unknown, statement: string): never {
  if (isMissingInSchema(error))
    error.message += `, in the statement ${statement}. To fix: add a migration, or correct the name`;
  throw error;
}

/** Runs one statement outside of a transaction. A connection whose statement was cancelled is released later than the caller gets its error. */
function createStatementRunner(pool: Pool, onSuccess: () => void) {
  const cancellation = createCancellation();
  return async <T>(run: (client: pg.PoolClient) => Promise<T>, isRead = false): Promise<T> => {
    const caller = currentCaller();
    requireWaiting(caller);
    const client = await pool.acquire();
    let connectionError: Error | undefined;
    let cancellable: CancellableStatement | undefined;
    try {
      requireWaiting(caller);
      if (isRead && caller) cancellable = cancellation.watch(client, caller);
      const result = await run(client);
      onSuccess();
      return result;
    } catch (error) {
      if (isConnectionLost(error)) connectionError = error;
      pool.renewAfter(client, error);
      throw caller && cancellable?.isCancelled ? leftBy(caller) : error;
    } finally {
      const cancelled = cancellable?.end();
      if (cancelled) void cancelled.then((error) => pool.release(client, connectionError ?? error));
      else pool.release(client, connectionError);
    }
  };
}

/** What follows decides whether the request's write was made: later statements of the request are not refused. */
function beginWrite(client: pg.PoolClient): pg.PoolClient {
  const caller = currentCaller();
  if (caller) caller.hasWritten = true;
  return client;
}

function createReachabilityChecks() {
  const pending = new Set<() => void>();
  return {
    confirmAll: () => pending.forEach((confirm) => confirm()),
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

function createWriter(
  onWrite: (position: WritePosition) => void,
  run: (
    name: string,
    text: string,
    values: readonly unknown[],
    isRead: boolean,
  ) => Promise<{ readonly rows: readonly unknown[] }>,
): Writer {
  return {
    async rows<Row>(name: string, text: string, values: readonly unknown[] = []) {
      return (await run(name, text, values, true)).rows as readonly Row[];
    },
    async write<Row>(name: string, text: string, values: readonly unknown[] = []) {
      const result = await run(name, `${text}, ${positionColumns}`, values, false);
      const rows = result.rows as readonly (Row & PositionColumns)[];
      // All rows of a statement have the same position.
      const [first] = rows;
      if (first) onWrite({ epoch: first.writeEpoch ?? undefined, xid: Number(first.writeXid) });
      return rows.map(({ writeEpoch: _epoch, writeXid: _xid, ...row }) => row as Row);
    },
  };
}

export function violates(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.constraint === constraint;
}

/** The settings with which the database cannot lose acknowledged writes. @throws ConfigError that names the setting. */
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
  const state = isBusy(error) ? "busy" : "not reachable";
  return new AppError("SERVICE_UNAVAILABLE", `The database is ${state} at the moment. Try again shortly.`, {
    cause: error,
    retryAfterSeconds: 1,
    dependency: "database",
  });
}
