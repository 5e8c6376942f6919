// Stage 1 of 5: admit. Recognizes GET requests whose responses HTTP caches may store: they send the hash of a document, so equal requests have equal
// URLs. paths/full.ts exempts them from CSRF prevention, and pipeline.ts may add caching headers to their responses.
import type { IncomingMessage } from "node:http";

/** A URL with any other parameter is not cacheable: a client could fill a cache with any number of URLs for one response. */
const parameterNames: ReadonlySet<string> = new Set(["extensions", "operationName", "variables"]);

/**
 * Whether the request is a GET without cookies and without a document, whose `extensions` have `persistedQuery` only. This request needs no CSRF
 * header: it changes nothing, its response does not depend on credentials that a browser adds, and a CDN could not add the header.
 */
export function isCacheableGet({ method, url = "", headers }: IncomingMessage): boolean {
  if (method !== "GET" || headers.cookie !== undefined) return false;
  const search = readSearchParameters(url);
  const names = [...search.keys()];
  const hasOtherParameter = names.some((name) => !parameterNames.has(name));
  if (hasOtherParameter) return false;
  const isRepeated = new Set(names).size < names.length;
  if (isRepeated) return false;
  return isPersistedQueryOnly(search.get("extensions"));
}

/** The parameters of a request target: all that follows its first `?`. A query may contain further ones (RFC 3986, 3.4). */
export function readSearchParameters(url: string): URLSearchParams {
  const searchStart = url.indexOf("?");
  return new URLSearchParams(searchStart === -1 ? "" : url.slice(searchStart));
}

/** @param json the value of the parameter `extensions`; null if it is missing. */
function isPersistedQueryOnly(json: string | null): boolean {
  try {
    const extensions: unknown = JSON.parse(json ?? "");
    // `Object()`: null has no members.
    const members = Object.keys(Object(extensions));
    return members.length === 1 && members[0] === "persistedQuery";
  } catch {
    return false;
  }
}
