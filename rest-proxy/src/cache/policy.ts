import { findHeader, joinHeaderLines, listHeaderLines } from "@tributary/kit/http/raw-headers";
import { type Directives, parseCacheControl, secondsMax, secondsOf } from "./cache-control.ts";
import { parseHttpDate } from "@tributary/kit/http/http-date";
import { parseDictionary, type StructuredItem } from "./structured-fields.ts";

/** What an answer says about being kept. */
export interface Policy {
  readonly isPublic: boolean;
  readonly isPrivate: boolean;
  readonly noStore: boolean;
  /** Never used without asking the origin first (RFC 9111, 5.2.2.4). */
  readonly noCache: boolean;
  readonly mustUnderstand: boolean;
  /** A shared cache never uses it stale (RFC 9111, 4.2.4: must-revalidate, proxy-revalidate, s-maxage). */
  readonly neverStale: boolean;
  /** May be kept though the request had `Authorization` (RFC 9111, 3.5). */
  readonly admitsAuthorized: boolean;
  /** Seconds that it is fresh from its birth on; undefined when the origin says nothing. */
  readonly lifetimeSeconds: number | undefined;
  /** RFC 5861, 3 and 4; undefined when the origin says nothing. */
  readonly whileRevalidateSeconds: number | undefined;
  readonly ifErrorSeconds: number | undefined;
  /** Fields that `no-cache="…"` or `private="…"` names: the answer is kept without them (RFC 9111, 3.1). */
  readonly unstoredFields: readonly string[];
}

/** Reads the first targeted field that is there and valid; else `Cache-Control` and `Expires`. */
export function readPolicy(headers: readonly string[], targetedFields: readonly string[], nowMs: number): Policy {
  for (const field of targetedFields) {
    const targeted = readTargeted(joinHeaderLines(headers, field));
    if (targeted) return toPolicy(targeted, undefined);
  }
  const directives = parseCacheControl(joinHeaderLines(headers, "cache-control"));
  return toPolicy(directives, expiresSeconds(headers, nowMs));
}

function toPolicy(directives: Directives, expires: number | undefined): Policy {
  const sharedSeconds = secondsOf(directives, "s-maxage");
  const mustRevalidate = directives.has("must-revalidate");
  const isPublic = directives.has("public");
  const namedBy = (name: string) => fieldsOf(directives.get(name));
  return {
    isPublic,
    // Qualified ones are taken as whole: a cache that keeps a part of an answer is a surprise (RFC 9111, 5.2.2.7).
    isPrivate: directives.has("private"),
    noStore: directives.has("no-store"),
    noCache: directives.has("no-cache") && namedBy("no-cache").length === 0,
    mustUnderstand: directives.has("must-understand"),
    neverStale: mustRevalidate || directives.has("proxy-revalidate") || sharedSeconds !== undefined,
    admitsAuthorized: isPublic || mustRevalidate || sharedSeconds !== undefined,
    // RFC 9111, 4.2.1: in this order.
    lifetimeSeconds: sharedSeconds ?? secondsOf(directives, "max-age") ?? expires,
    whileRevalidateSeconds: secondsOf(directives, "stale-while-revalidate"),
    ifErrorSeconds: secondsOf(directives, "stale-if-error"),
    unstoredFields: namedBy("no-cache"),
  };
}

function fieldsOf(argument: string | true | undefined): readonly string[] {
  if (argument === undefined || argument === true) return [];
  const names = argument.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "");
}

/** RFC 9111, 5.3: less `Date`, or the moment it came; what is no date is past. */
function expiresSeconds(headers: readonly string[], nowMs: number): number | undefined {
  const [expires] = listHeaderLines(headers, "expires");
  if (expires === undefined) return undefined;
  const expiresMs = parseHttpDate(expires, nowMs);
  if (expiresMs === undefined) return 0;
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", nowMs) ?? nowMs;
  return Math.min(secondsMax, Math.max(0, Math.floor((expiresMs - dateMs) / 1_000)));
}

const numeric: ReadonlySet<string> = new Set(["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]);

/** RFC 9213, 2.1 and 2.2: a field that is empty, no dictionary, or has a time of the wrong type counts as not there. */
function readTargeted(text: string | undefined): Directives | undefined {
  const members = text === undefined ? undefined : parseDictionary(text);
  if (!members || members.size === 0) return undefined;
  const directives = new Map<string, string | true>();
  for (const [name, item] of members) {
    if (numeric.has(name) && !isSeconds(item)) return undefined;
    // A flag that is said to be false is not set.
    if (item.kind === "boolean" && !item.value) continue;
    directives.set(name, item.kind === "boolean" || item.kind === "inner-list" ? true : String(item.value));
  }
  return directives;
}

function isSeconds(item: StructuredItem): boolean {
  return item.kind === "integer" && item.value >= 0;
}
