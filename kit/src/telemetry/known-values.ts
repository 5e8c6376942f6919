/** Tells values that are counted by themselves from all others. */
export type KnownValues = (value: string | undefined) => string;

/**
 * A label whose values callers choose has few of them: the known ones, `other`, and `unnamed` for none.
 * @param known as configuration or schema give them; their number is the bound.
 */
export function createKnownValues(known: Iterable<string>): KnownValues {
  // Ours is given for the caller's equal one: a text is hashed once for all lookups, and none of the caller's is kept.
  const names = new Map(Array.from(known, (name) => [name, name]));
  return (value) => (value === undefined || value === "" ? "unnamed" : (names.get(value) ?? "other"));
}
