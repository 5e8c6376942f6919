import { invalidQuery, parseQuery } from "@tributary/kit/rest/query";

/**
 * Checks a query against the names that a route knows and writes it in one spelling, sorted by name: the service reads what the proxy read, and
 * every spelling of a query has one cache key (RFC 9110, 4.2.3). Values are the service's to check.
 * @throws AppError 400 with every parameter that is unknown, repeated or cannot be decoded.
 */
export function readQuery(query: string, known: readonly string[]): string {
  const { values, problems } = parseQuery(query, known);
  if (problems.length > 0) throw invalidQuery(problems);
  if (values.size === 0) return "";
  const sorted = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}
