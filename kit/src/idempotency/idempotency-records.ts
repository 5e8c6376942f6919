// `idempotency_keys` is a table (in orders a view) that a migration of each service creates.
import { createHash } from "node:crypto";
import { AppError } from "../errors/app-error.ts";
import type { Queryable } from "../postgres/postgres.ts";

export const idempotencyHours = 24;

/** Per insert. More than the record that it adds, so that a backlog decreases. */
const expiredRecordsMax = 10;

export interface CallerKey {
  readonly callerId: string;
  readonly key: string;
}

interface IdempotencyRecord<T> {
  /** Undefined if it was erased, by `eraseResponses` or a trigger. */
  readonly response: { readonly fingerprint: Buffer; readonly snapshot: T } | undefined;
}

interface NewRecord extends CallerKey {
  readonly fingerprint: Buffer;
  readonly entityId: string;
  readonly result: unknown;
}

/** Does not wait. @throws AppError IDEMPOTENCY_KEY_IN_FLIGHT while another transaction holds the key. */
export async function lockKeyNoWait(transaction: Queryable, callerKey: CallerKey): Promise<void> {
  const text = "select pg_try_advisory_xact_lock($1::bigint) as locked";
  const [row] = await transaction.rows<{ locked: boolean }>("lock-key", text, [lockNumberOf(callerKey)]);
  if (row?.locked) return;
  throw new AppError(
    "IDEMPOTENCY_KEY_IN_FLIGHT",
    "A request with this idempotency key is in flight. Retry after 1 s.",
    { retryAfterSeconds: 1 },
  );
}

/** 64 bits of a hash. The worst effect of a collision is IDEMPOTENCY_KEY_IN_FLIGHT. */
export function lockNumberOf({ callerId, key }: CallerKey): string {
  const digest = createHash("sha256").update(`idempotency\n${callerId}\n${key}`).digest();
  return digest.readBigInt64BE().toString();
}

interface RecordRow<T> {
  readonly fingerprint: Buffer | null;
  readonly snapshot: T | null;
}

/** A separate statement after `lockKeyNoWait`, so that it sees the commit of the previous holder of the lock. */
export async function findRecord<T>(
  transaction: Queryable,
  { callerId, key }: CallerKey,
): Promise<IdempotencyRecord<T> | undefined> {
  const text = `select fingerprint, snapshot from idempotency_keys
    where caller_id = $1 and key = $2 and created_at > now() - make_interval(hours => $3)`;
  const [row] = await transaction.rows<RecordRow<T>>("find-record", text, [callerId, key, idempotencyHours]);
  if (row === undefined) return undefined;
  const { fingerprint, snapshot } = row;
  return { response: fingerprint === null || snapshot === null ? undefined : { fingerprint, snapshot } };
}

/**
 * Overwrites an expired record, and deletes a few others. `write_xid` and `write_epoch` are for the previous release, which runs beside this one during a
 * rollout and sends them as the position of a repeated write.
 */
export async function insertRecord(
  transaction: Queryable,
  { callerId, key, fingerprint, entityId, result }: NewRecord,
): Promise<void> {
  const text = `insert into idempotency_keys (caller_id, key, fingerprint, entity_id, snapshot, write_xid, write_epoch)
    values ($1, $2, $3, $4, $5, pg_current_xact_id(), (select id from feed_epoch))
    on conflict (caller_id, key) do update set fingerprint = excluded.fingerprint, entity_id = excluded.entity_id,
      snapshot = excluded.snapshot, write_xid = excluded.write_xid, write_epoch = excluded.write_epoch,
      created_at = excluded.created_at`;
  await transaction.rows("insert-record", text, [callerId, key, fingerprint, entityId, JSON.stringify(result)]);
  // The write must not wait for expired records that other transactions have locked.
  const deleteExpiredSql = `with expired as materialized (
      select caller_id, key from idempotency_keys where created_at <= now() - make_interval(hours => $1)
      order by created_at limit ${expiredRecordsMax} for update skip locked)
    delete from idempotency_keys k using expired where k.caller_id = expired.caller_id and k.key = expired.key`;
  await transaction.rows("delete-expired-records", deleteExpiredSql, [idempotencyHours]);
}

/** The keys remain until they expire: a repeated request is GONE, and does not create the erased data again. */
export async function eraseResponses(
  transaction: Queryable,
  { callerId, entityId }: { readonly callerId: string; readonly entityId: string },
): Promise<void> {
  const text = `update idempotency_keys set fingerprint = null, snapshot = null
    where (caller_id = $1 or entity_id = $2) and snapshot is not null`;
  await transaction.rows("erase-responses", text, [callerId, entityId]);
}
