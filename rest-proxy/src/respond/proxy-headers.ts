// Stage 5 of 5: respond. Adds the headers that the stages have collected in `exchange.proxyHeaders`.
import { isForSharedCaches } from "@tributary/kit/http/request-id";
import { findHeaderIndex, listHeaderValues } from "@tributary/kit/http/raw-headers";
import type { ProxyHeaders } from "../admit/exchange.ts";

/** @param headers of a service or a cached response: changed and returned. */
export function addProxyHeaders(headers: string[], proxyHeaders: ProxyHeaders): string[] {
  const { ids, onEvery, onResource, vary, mediaType } = proxyHeaders;
  if (mediaType !== undefined) replaceJsonType(headers, mediaType);
  if (vary.length > 0) addVary(headers, vary);
  if (!isForSharedCaches(headers)) headers.push(...ids);
  for (const nameOrValue of onEvery) headers.push(nameOrValue);
  for (const nameOrValue of onResource) headers.push(nameOrValue);
  return headers;
}

/** Of a problem document or a response to `OPTIONS`: without `onResource` and `mediaType`. */
export function listProxyHeaders({ ids, onEvery, vary }: ProxyHeaders): readonly string[] {
  const headers = [...ids, ...onEvery];
  if (vary.length > 0) headers.push("Vary", vary.join(", "));
  return headers;
}

const jsonType = /^application\/json(?:\s*;|$)/i;

/** A service's problem document keeps its type. */
function replaceJsonType(headers: string[], mediaType: string): void {
  const at = findHeaderIndex(headers, "content-type");
  if (at !== -1 && jsonType.test(headers[at + 1] ?? "")) headers[at + 1] = mediaType;
}

/** In one header line: some caches read only the first one (nginx before 1.23). */
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

/** Each name once, the proxy's first. The service's spelling wins. */
function joinVary(serviceNames: string, proxyNames: readonly string[]): string {
  const namesByLowerCase = new Map<string, string>();
  for (const name of proxyNames) namesByLowerCase.set(name.toLowerCase(), name);
  for (const untrimmedName of serviceNames.split(",")) {
    const name = untrimmedName.trim();
    if (name !== "") namesByLowerCase.set(name.toLowerCase(), name);
  }
  return [...namesByLowerCase.values()].join(", ");
}
