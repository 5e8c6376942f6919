import { createHash } from "node:crypto";
import { AppError } from "../errors/app-error.ts";
import type { Database, Writer } from "../postgres/postgres.ts";
import { findRecord, insertRecord, lockKeyNoWait } from "./idempotency-records.ts";

export interface IdempotentResult<T> {
  readonly result: T;
  /** Whether an earlier request made the write. `result` is then what that request got. */
  readonly replayed: boolean;
}

export type Stored<T> = T extends Date
  ? string
  : T extends object
    ? { readonly [Member in keyof T]: Stored<T[Member]> }
    : T;

export interface IdempotentWrite<T> {
  readonly callerId: string;
  /** Undefined: the write is one statement, which needs no transaction. */
  readonly key: string | undefined;
  /** All input besides the caller, in one form for both endpoints and all REST versions. */
  readonly input: object;
  /** Called again after a deadlock. */
  run(writer: Writer): Promise<T>;
  entityIdOf(result: T): string;
  restore(stored: Stored<T>): T;
}

/**
 * Makes a write in one transaction with the record of its key, or returns the stored result. Only successful writes are recorded.
 * @throws AppError IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED for other input, GONE if the result was erased.
 */
export async function writeOnce<T>(database: Database, write: IdempotentWrite<T>): Promise<IdempotentResult<T>> {
  const { callerId, key } = write;
  if (key === undefined) return { result: await write.run(database), replayed: false };
  const fingerprint = fingerprintOf(write.input);
  return database.transaction(async (transaction) => {
    await lockKeyNoWait(transaction, { callerId, key });
    const record = await findRecord<Stored<T>>(transaction, { callerId, key });
    if (record !== undefined) {
      const stored = requireSameInput(record.response, fingerprint);
      return { result: write.restore(stored), replayed: true };
    }
    const result = await write.run(transaction);
    await insertRecord(transaction, { callerId, key, fingerprint, entityId: write.entityIdOf(result), result });
    return { result, replayed: false };
  });
}

/** The order of an object's members does not matter; null and undefined count as absent. */
export function fingerprintOf(input: object): Buffer {
  const canonicalJson = JSON.stringify(input, toCanonical);
  return createHash("sha256").update(canonicalJson).digest();
}

function toCanonical(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  const sortedMembers = members.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sortedMembers);
}

interface StoredResponse<T> {
  readonly fingerprint: Buffer;
  readonly snapshot: T;
}

function requireSameInput<T>(response: StoredResponse<T> | undefined, fingerprint: Buffer): T {
  if (response === undefined) {
    const message =
      "The response to the first request with this idempotency key was deleted, because its data was erased. Use a new key for a new request.";
    throw new AppError("GONE", message);
  }
  if (fingerprint.equals(response.fingerprint)) return response.snapshot;
  throw new AppError(
    "IDEMPOTENCY_KEY_REUSED",
    "An earlier request with this idempotency key had other input. Use a new key.",
  );
}
