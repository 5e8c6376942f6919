// Stage 1 of 5: admit. Recognizes GET requests whose responses HTTP caches may store: equal requests have equal URLs, with the hash of a document.
import type { IncomingMessage } from "node:http";

/** With any other parameter, a client could fill a cache with any number of URLs for one response. */
const parameterNames: ReadonlySet<string> = new Set(["extensions", "operationName", "variables"]);

/** Needs no CSRF header: it changes nothing and depends on no credentials of a browser, and a CDN could not add the header. */
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

/** A query may contain further `?` (RFC 3986, 3.4). */
export function readSearchParameters(url: string): URLSearchParams {
  const searchStart = url.indexOf("?");
  return new URLSearchParams(searchStart === -1 ? "" : url.slice(searchStart));
}

/** @param json null if the parameter is missing. */
function isPersistedQueryOnly(json: string | null): boolean {
  try {
    const extensions: unknown = JSON.parse(json ?? "");
    const members = Object.keys(Object(extensions));
    return members.length === 1 && members[0] === "persistedQuery";
  } catch {
    return false;
  }
}
