/** Adds the headers that the stages have collected in `exchange.proxyHeaders` to the response. */
import { findHeaderIndex, listHeaderValues } from "@tributary/kit/http/raw-headers";
import type { ProxyHeaders } from "../admit/exchange.ts";

/**
 * Adds the proxy's headers to those of a service or a cached response.
 * @param headers alternating names and values; changed and returned.
 */
export function addProxyHeaders(headers: string[], { onEvery, onResource, vary, mediaType }: ProxyHeaders): string[] {
  if (mediaType !== undefined) replaceJsonType(headers, mediaType);
  if (vary.length > 0) addVary(headers, vary);
  for (const part of onEvery) headers.push(part);
  for (const part of onResource) headers.push(part);
  return headers;
}

/** The headers of a problem document or a response to `OPTIONS`, as alternating names and values: without `onResource` and `mediaType`. */
export function listProxyHeaders({ onEvery, vary }: ProxyHeaders): readonly string[] {
  return vary.length === 0 ? onEvery : [...onEvery, "Vary", vary.join(", ")];
}

/** Replaces `application/json`. A service's problem document keeps its type. */
function replaceJsonType(headers: string[], mediaType: string): void {
  const at = findHeaderIndex(headers, "content-type");
  if (at !== -1 && /^application\/json(?:\s*;|$)/i.test(headers[at + 1] ?? "")) headers[at + 1] = mediaType;
}

/** Adds names to `Vary`, in one header line: some caches read only the first one (nginx before 1.23). */
function addVary(headers: string[], names: readonly string[]): void {
  let at = findHeaderIndex(headers, "vary");
  if (at === -1) return void headers.push("Vary", names.join(", "));
  const values = listHeaderValues(headers, "vary");
  for (; at !== -1; at = findHeaderIndex(headers, "vary")) headers.splice(at, 2);
  headers.push("Vary", joinVary(values.join(","), names));
}

/** Joins two lists, with each name once. */
function joinVary(serviceNames: string, proxyNames: readonly string[]): string {
  const names = [...proxyNames, ...serviceNames.split(",").map((name) => name.trim())].filter((name) => name !== "");
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()].join(", ");
}
