// Stage 5 of 5: respond. Adds the headers that the stages have collected in `exchange.proxyHeaders` to the response: called by respond.ts, and by
// pipeline.ts for responses that the cache writes.
import { findHeaderIndex, listHeaderValues } from "@tributary/kit/http/raw-headers";
import type { ProxyHeaders } from "../admit/exchange.ts";

/**
 * Adds the proxy's headers to those of a service or a cached response.
 * @param headers alternating names and values; changed and returned.
 */
export function addProxyHeaders(headers: string[], { onEvery, onResource, vary, mediaType }: ProxyHeaders): string[] {
  if (mediaType !== undefined) replaceJsonType(headers, mediaType);
  if (vary.length > 0) addVary(headers, vary);
  for (const nameOrValue of onEvery) headers.push(nameOrValue);
  for (const nameOrValue of onResource) headers.push(nameOrValue);
  return headers;
}

/** The headers of a problem document or a response to `OPTIONS`, as alternating names and values: without `onResource` and `mediaType`. */
export function listProxyHeaders({ onEvery, vary }: ProxyHeaders): readonly string[] {
  return vary.length === 0 ? onEvery : [...onEvery, "Vary", vary.join(", ")];
}

const jsonType = /^application\/json(?:\s*;|$)/i;

/** Replaces `application/json`. A service's problem document keeps its type. */
function replaceJsonType(headers: string[], mediaType: string): void {
  const at = findHeaderIndex(headers, "content-type");
  if (at !== -1 && jsonType.test(headers[at + 1] ?? "")) headers[at + 1] = mediaType;
}

/** Adds names to `Vary`, in one header line: some caches read only the first one (nginx before 1.23). */
function addVary(headers: string[], proxyNames: readonly string[]): void {
  let at = findHeaderIndex(headers, "vary");
  if (at === -1) {
    headers.push("Vary", proxyNames.join(", "));
    return;
  }
  const serviceNames = listHeaderValues(headers, "vary").join(",");
  while (at !== -1) {
    headers.splice(at, 2);
    at = findHeaderIndex(headers, "vary");
  }
  headers.push("Vary", joinVary(serviceNames, proxyNames));
}

/** Joins two lists, the proxy's names first, with each name once. The service's spelling of a name wins. */
function joinVary(serviceNames: string, proxyNames: readonly string[]): string {
  const namesByLowerCase = new Map<string, string>();
  for (const name of proxyNames) namesByLowerCase.set(name.toLowerCase(), name);
  for (const untrimmedName of serviceNames.split(",")) {
    const name = untrimmedName.trim();
    if (name !== "") namesByLowerCase.set(name.toLowerCase(), name);
  }
  return [...namesByLowerCase.values()].join(", ");
}
