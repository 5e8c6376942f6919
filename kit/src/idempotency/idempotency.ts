// Idempotent writes: a request that is repeated with its idempotency key gets the result of the first one, and nothing is written a second time.
import { createHash } from "node:crypto";
import { AppError } from "../errors/app-error.ts";
import type { Database, Writer } from "../postgres/postgres.ts";
import { addToWriteScope } from "../postgres/write-scope.ts";
import { findRecord, insertRecord, lockKeyNoWait } from "./idempotency-records.ts";

/** The result of a write that accepts an idempotency key. */
export interface IdempotentResult<T> {
  readonly result: T;
  /** Whether an earlier request with the same key made the write. `result` is then what that request got. */
  readonly replayed: boolean;
}

/** A value as it is stored in JSON: dates are texts. */
export type Stored<T> = T extends Date
  ? string
  : T extends object
    ? { readonly [Member in keyof T]: Stored<T[Member]> }
    : T;

export interface IdempotentWrite<T> {
  /** The user id of the caller: keys are separate for each caller. */
  readonly callerId: string;
  readonly key: string;
  /** All input of the write besides the caller, in one form for both endpoints and all REST versions. A repeated request must have equal input. */
  readonly input: object;
  /** Makes the write. Called again after a deadlock. */
  run(transaction: Writer): Promise<T>;
  /** The id of the row that the write has created. */
  entityIdOf(result: T): string;
  /** Converts the stored JSON to the result of `run`, for example texts to dates. */
  restore(stored: Stored<T>): T;
}

/**
 * Makes a write in one transaction with the record of its idempotency key, or returns the stored result of the request that used this key in the last
 * `idempotencyHours`. Only successful writes are recorded. The response to a repeated request has the position of the original write
 * (kit/src/consistency).
 * @throws AppError IDEMPOTENCY_KEY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED for other input, GONE if the stored result was erased, and the errors of `run`;
 * the transaction is rolled back.
 */
export async function writeOnce<T>(database: Database, write: IdempotentWrite<T>): Promise<IdempotentResult<T>> {
  const fingerprint = fingerprintOf(write.input);
  const { position, ...idempotentResult } = await database.transaction(async (transaction) => {
    await lockKeyNoWait(transaction, write);
    const record = await findRecord<Stored<T>>(transaction, write);
    if (record !== undefined) {
      const stored = requireSameInput(record.response, fingerprint);
      return { result: write.restore(stored), replayed: true, position: record.position };
    }
    const result = await write.run(transaction);
    const { callerId, key } = write;
    await insertRecord(transaction, { callerId, key, fingerprint, entityId: write.entityIdOf(result), result });
    return { result, replayed: false, position: undefined };
  });
  // Defined for a repeated request only: `database.transaction` adds the position of a new write itself.
  if (position !== undefined) addToWriteScope(position);
  return idempotentResult;
}

/** SHA-256 of a value as JSON. The sequence of an object's members does not matter, and members that are null or undefined count as absent. */
export function fingerprintOf(input: object): Buffer {
  const canonicalJson = JSON.stringify(input, toCanonical);
  return createHash("sha256").update(canonicalJson).digest();
}

/** Called by `JSON.stringify` for each value: sorts the members of an object by name. */
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

/**
 * @param response undefined if it was erased.
 * @param fingerprint of the repeated request's input.
 * @returns the stored result of the first request.
 */
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
