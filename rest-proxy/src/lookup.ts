import type { IncomingMessage } from "node:http";
import type { CacheLookup } from "./cache/lookup.ts";
import type { Coding } from "./compression.ts";

/**
 * What the cache looks for. `Accept` selects nothing any more: it has chosen the version, which is in the key; so a thousand spellings of it
 * are one. Of `Accept-Encoding` only the packing counts that it comes to.
 */
export function createLookup(request: IncomingMessage, key: string, coding: Coding | undefined): CacheLookup {
  const { headers } = request;
  const selecting = (field: string) => {
    if (field === "accept") return undefined;
    if (field === "accept-encoding") return coding;
    const value = headers[field];
    return typeof value === "string" ? value : value?.join(", ");
  };
  return { key, request, selecting };
}

/** Who asks and where from, which nothing that is shared may depend on. */
const aboutClient: ReadonlySet<string> = new Set([
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
]);

/** Headers for a service whose answer is for whoever asks next, too. */
export function withoutClient(headers: readonly string[]): readonly string[] {
  return without(headers, aboutClient);
}

const negotiated: ReadonlySet<string> = new Set(["accept", "accept-encoding"]);

/**
 * Headers of a read for a service, without what the proxy has answered by itself: the type, and the packing. It says to the service what is
 * left of them, so that no answer can depend on what its key does not say.
 */
export function withoutNegotiation(headers: readonly string[]): readonly string[] {
  const kept = without(headers, negotiated);
  kept.push("accept", "application/json", "accept-encoding", "identity");
  return kept;
}

/** `names` and those in `headers` are in lower case, as Node reads them. */
function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    if (!names.has(name)) kept.push(name, headers[at + 1] ?? "");
  }
  return kept;
}
