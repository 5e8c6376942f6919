const largestBigint = 9_223_372_036_854_775_807n;
const decimalId = /^[1-9]\d{0,18}$/;

/** Whether a text can be the id of a row with a `bigint` identity: decimal, without sign or leading zero, from 1 to 2^63 - 1. */
export function isRowId(text: string): boolean {
  if (!decimalId.test(text)) return false;
  // The largest id has 19 digits.
  return text.length < 19 || BigInt(text) <= largestBigint;
}

/** Drops texts that cannot be ids. They are not an error: clients may send any text in a list of ids. */
export function onlyRowIds(texts: readonly string[]): readonly string[] {
  return texts.filter(isRowId);
}
