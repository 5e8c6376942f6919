const largestBigint = 9_223_372_036_854_775_807n;

/** Whether a text can be the id of a row with a `bigint` identity: decimal, no sign, no leading zero, within 1 to 2^63 - 1. */
export function isRowId(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text) && (text.length < 19 || BigInt(text) <= largestBigint);
}

/** An id that cannot exist is nothing, never an error: lists of ids may hold anything a client made up. */
export function onlyRowIds(texts: readonly string[]): readonly string[] {
  return texts.filter(isRowId);
}
