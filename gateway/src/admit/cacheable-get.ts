// Stage 1 of 5: admit. GET requests whose responses caches may store: a query by the hash of a known document, so that equal requests have equal URLs.
import type { IncomingMessage } from "node:http";

/** Any other parameter would let a client request the same response by any number of URLs. */
const parameterNames: ReadonlySet<string> = new Set(["extensions", "operationName", "variables"]);

/**
 * Whether the request has the form of a cacheable one: a GET with `extensions.persistedQuery` alone, without the document, without cookies. Such a
 * request needs no CSRF header: it changes nothing, its response has nothing that depends on ambient credentials, and a CDN could not add the header.
 */
export function isCacheableGet({ method, url = "", headers }: IncomingMessage): boolean {
  if (method !== "GET" || headers.cookie !== undefined) return false;
  const search = new URLSearchParams(url.split("?", 2)[1] ?? "");
  const names = [...search.keys()];
  if (names.some((name) => !parameterNames.has(name)) || new Set(names).size < names.length) return false;
  return isPersistedQueryOnly(search.get("extensions"));
}

function isPersistedQueryOnly(text: string | null): boolean {
  try {
    const extensions: unknown = JSON.parse(text ?? "");
    return Object.keys(Object(extensions)).join() === "persistedQuery";
  } catch {
    return false;
  }
}
