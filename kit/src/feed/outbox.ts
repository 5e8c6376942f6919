// The SQL of the feed, on a separate connection: requests and the feed do not wait for each other.
import pg from "pg";
import { ensureEpochSql } from "./epoch.ts";
import { type FeedPosition } from "./position.ts";
import { parseSnapshot } from "./snapshot.ts";

/** As its trigger recorded it: columns as text, by their names in camel case. */
export interface RecordedChange {
  readonly kind: string;
  /** Null for an inserted row. */
  readonly before: Readonly<Record<string, string | null>> | null;
  /** Null for a deleted row. */
  readonly after: Readonly<Record<string, string | null>> | null;
}

export interface OutboxBatch {
  readonly position: FeedPosition;
  /**
   * Each of equal changes once, in any order. `gap`: the requested position is of another epoch or too old. `flood`: there are more than
   * `changesMax`, or more than `differentChangesMax` that differ.
   */
  readonly changes: readonly RecordedChange[] | "gap" | "flood";
}

export interface Outbox {
  /** In one statement. Without `since`, `changes` is empty. */
  read(since: FeedPosition | undefined): Promise<OutboxBatch>;
  /** All replicas call it. @returns true if more old changes may remain. */
  trim(): Promise<boolean>;
  /** An estimate of PostgreSQL, some seconds old. */
  estimateChanges(): Promise<number>;
  notify(): Promise<void>;
  close(): Promise<void>;
}

export interface OutboxOptions {
  readonly databaseUrl: string;
  readonly applicationName: string;
  onNotified(): void;
  onLost(error: Error): void;
}

/** Before equal ones are left out, such as many orders of one product. PostgreSQL takes 20 ms to compare so many. */
const changesMax = 10_000;
/** Most changes have a group of their own, so that more of them would be a reset anyway (`groupsMax` in change-feed.ts). */
const differentChangesMax = 1_000;
const trimAfterSeconds = 60;
/** So that a backlog delays no reader and exceeds no statement timeout. */
const trimRowsMax = 2_000;
const statementTimeoutMs = 5_000;
const channel = "feed_changes";

/** @throws Error if there is no connection, or if the database is a standby. */
export async function openOutbox(o: OutboxOptions): Promise<Outbox> {
  const client = new pg.Client({
    connectionString: o.databaseUrl,
    application_name: o.applicationName,
    connectionTimeoutMillis: statementTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // If the server does not respond at all, its own timeout has no effect.
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
  });
  client.once("error", (error) => o.onLost(error));
  // An unhandled `error` event would end the process.
  client.on("error", () => {});
  await client.connect();
  try {
    const ownPid = await prepare(client);
    client.on("notification", ({ processId }) => {
      if (processId !== ownPid) o.onNotified();
    });
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return {
    async read(since) {
      const values = [since?.snapshot.text];
      const { rows } = await client.query<BatchRow>({ name: "read-feed", text: readSql, values });
      const row = rows[0] as BatchRow;
      const epoch = row.epoch ?? (await ensureEpoch(client));
      const position = { epoch, snapshot: parseSnapshot(row.snapshot) };
      const isGap = row.isTrimmed || (since !== undefined && since.epoch !== epoch);
      return { position, changes: isGap ? "gap" : (row.changes ?? "flood") };
    },
    async trim() {
      const { rowCount } = await client.query({ name: "trim-feed", text: trimSql });
      return rowCount === trimRowsMax;
    },
    async estimateChanges() {
      const { rows } = await client.query<{ count: number }>({ name: "estimate-feed", text: estimateSql });
      return rows[0]?.count ?? 0;
    },
    async notify() {
      await client.query(`notify ${channel}`);
    },
    close: () => client.end(),
  };
}

interface BatchRow {
  readonly snapshot: string;
  /** Null after a crash or the promotion of a standby, until a session begins a new epoch. */
  readonly epoch: string | null;
  /** Changes since the requested position may have been deleted. */
  readonly isTrimmed: boolean;
  /** Null for a flood. */
  readonly changes: readonly RecordedChange[] | null;
}

/**
 * `pg_current_snapshot()` is the snapshot of this statement, so the new position includes exactly the changes that it sees. The changes are
 * counted before the JSON of any is built.
 */
const readSql = `with recorded as materialized (
    select kind, before, after from feed_changes where xid = any(array(select pg_snapshot_xip($1::pg_snapshot)))
    union all
    select kind, before, after from feed_changes where xid >= pg_snapshot_xmax($1::pg_snapshot)
    limit ${changesMax + 1}),
  different as materialized (select distinct kind, before, after from recorded limit ${differentChangesMax + 1})
  select pg_current_snapshot()::text as snapshot,
    (select id::text from feed_epoch) as epoch,
    coalesce((select pg_snapshot_xmin($1::pg_snapshot) < trimmed_below from feed_trim), false) as "isTrimmed",
    case when (select count(*) from recorded) <= ${changesMax} and (select count(*) from different) <= ${differentChangesMax}
      then coalesce((select json_agg(different) from different), '[]') end as changes`;

/**
 * Each step, at least 60 s after the last, moves `next_below` to `trimmed_below` and sets `next_below` to the oldest running transaction.
 * Changes below `trimmed_below` have been visible to every reader for 60 s.
 */
const trimSql = `with due as (
    update feed_trim set trimmed_below = next_below, next_below = pg_snapshot_xmin(pg_current_snapshot()),
      due = now() + make_interval(secs => ${trimAfterSeconds})
    where due <= now() returning new.trimmed_below)
  delete from feed_changes where ctid = any(array(
    select ctid from feed_changes
    where xid < coalesce((select trimmed_below from due), (select trimmed_below from feed_trim))
    limit ${trimRowsMax}))`;

/** A count would read the whole table while it is longest. */
const estimateSql =
  "select n_live_tup::float8 as count from pg_stat_user_tables where relid = 'feed_changes'::regclass";

/** @returns the process id of the session, by which its own notifications are ignored. */
async function prepare(client: pg.Client): Promise<number> {
  // The table is small or only its newest part is read, whatever the planner's statistics are. A bitmap of a backlog has no limit.
  await client.query("set enable_seqscan = off; set enable_bitmapscan = off");
  await client.query(`listen ${channel}`);
  await ensureEpoch(client);
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid ?? 0;
}

/** @throws Error if the database is a standby. */
async function ensureEpoch(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ epoch: string }>(ensureEpochSql);
  return rows[0]?.epoch ?? "";
}
