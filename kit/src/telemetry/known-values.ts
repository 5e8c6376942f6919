/** Tells values that are counted by themselves from all others. */
export type KnownValues = (value: string | undefined) => string;

/**
 * A label whose values callers choose has few of them: the known ones, `other`, and `unnamed` for none.
 * @param known as configuration or schema give them; their number is the bound.
 */
export function createKnownValues(known: Iterable<string>): KnownValues {
  const names = new Set(known);
  return (value) => (value === undefined || value === "" ? "unnamed" : names.has(value) ? value : "other");
}
