import { invalidQuery, parseQuery } from "@tributary/kit/rest/query";

/** Sorted by name, so that all spellings have one cache key (RFC 9110, 4.2.3). @throws AppError 400 with every invalid parameter. */
export function readQuery(query: string, known: readonly string[]): string {
  const { values, problems } = parseQuery(query, known);
  if (problems.length > 0) throw invalidQuery(problems);
  if (values.size === 0) return "";
  const sortedByName = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
  return sortedByName.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}
