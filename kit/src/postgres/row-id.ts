import type { SelectList } from "./columns.ts";
import type { Queryable } from "./postgres.ts";

const largestBigint = 9_223_372_036_854_775_807n;
const decimalId = /^[1-9]\d{0,18}$/;

/** Decimal, without sign or leading zero, from 1 to 2^63 - 1: an identity of type `bigint`. */
export function isRowId(text: string): boolean {
  if (!decimalId.test(text)) return false;
  return text.length < 19 || BigInt(text) <= largestBigint;
}

export function onlyRowIds(texts: readonly string[]): readonly string[] {
  return texts.filter(isRowId);
}

interface RowsById<Row> {
  readonly name: string;
  readonly select: SelectList<Row>;
  readonly from: string;
}

/** Malformed ids match no row. */
export async function findRows<Row>(
  database: Queryable,
  ids: readonly string[],
  { name, select, from }: RowsById<Row>,
): Promise<readonly Row[]> {
  const validIds = onlyRowIds(ids);
  if (validIds.length === 0) return [];
  return database.rows<Row>(name, `select ${select} from ${from} where id = any($1::bigint[])`, [validIds]);
}
