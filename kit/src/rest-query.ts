import { AppError } from "./errors.ts";
import type { RouteDeclaration } from "./routes.ts";

/** The names that a query gives, known to the route or not. */
export function readQueryNames(url: string): ReadonlySet<string> {
  return new Set(queryOf(url).keys());
}

/**
 * Reads a query: only names that the route declares, each at most once.
 * @throws AppError UNKNOWN_PARAMETER, MALFORMED_REQUEST.
 */
export function readQuery(route: RouteDeclaration, url: string): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, value] of queryOf(url)) {
    if (!route.query?.includes(name)) {
      const known = route.query?.length ? `known are ${route.query.join(", ")}` : "this path takes none";
      throw new AppError("UNKNOWN_PARAMETER", `There is no such query parameter here: ${known}.`);
    }
    if (found.has(name)) throw new AppError("MALFORMED_REQUEST", `The query parameter ${name} may be given once.`);
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(url.replace(/^[^?]*\??/, ""));
}
