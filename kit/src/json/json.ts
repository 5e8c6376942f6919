/** An object as `JSON.parse` returns it; also a list, whose keys are its indexes. */
export type Json = Readonly<Record<string, unknown>>;

/** False for a list. */
export function isJsonObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
