// Stage 1 of 5: admit. Recognizes GET requests whose responses HTTP caches may store: equal requests have equal URLs, with the hash of a document.
import type { IncomingMessage } from "node:http";

/** With any other parameter, a client could fill a cache with any number of URLs for one response. */
const parameterNames: ReadonlySet<string> = new Set(["extensions", "operationName", "variables"]);

/** The same for members of `extensions`. In `clientLibrary`, which changes nothing, Apollo's clients send their name and version by default. */
const extensionNames: ReadonlySet<string> = new Set(["clientLibrary", "persistedQuery"]);

/**
 * Needs no CSRF header: it changes nothing and depends on no credentials of a browser, and a CDN could not add the header. A `Cookie` does not matter:
 * the gateway does not read it, and where a rule forwards it, the caller requires more (paths/full.ts).
 */
export function isCacheableGet({ method, url = "" }: IncomingMessage): boolean {
  if (method !== "GET") return false;
  const search = readSearchParameters(url);
  const names = [...search.keys()];
  const hasOtherParameter = names.some((name) => !parameterNames.has(name));
  if (hasOtherParameter) return false;
  const isRepeated = new Set(names).size < names.length;
  if (isRepeated) return false;
  return namesPersistedQuery(search.get("extensions"));
}

/** A query may contain further `?` (RFC 3986, 3.4). */
export function readSearchParameters(url: string): URLSearchParams {
  const searchStart = url.indexOf("?");
  return new URLSearchParams(searchStart === -1 ? "" : url.slice(searchStart));
}

/** @param json null if the parameter is missing. */
function namesPersistedQuery(json: string | null): boolean {
  try {
    const extensions: unknown = JSON.parse(json ?? "");
    const names = Object.keys(Object(extensions));
    return names.includes("persistedQuery") && names.every((name) => extensionNames.has(name));
  } catch {
    return false;
  }
}
