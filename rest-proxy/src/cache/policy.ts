/** Whether a response may be stored, and for how long it is fresh (RFC 9111, 3, 4.2 and 5.2). */
import { parseHttpDate } from "@tributary/kit/http/http-date";
import { findHeader, joinHeaderLines, listHeaderValues } from "@tributary/kit/http/raw-headers";
import { proxyPolicyHeader } from "@tributary/kit/rest/caching";
import { parseDictionary, type StructuredItem } from "@tributary/kit/http/structured-fields";

/** For this cache alone: it is not forwarded. */
export const ownPolicyField = proxyPolicyHeader.toLowerCase();

export interface Policy {
  readonly isPublic: boolean;
  readonly isPrivate: boolean;
  readonly noStore: boolean;
  /** RFC 9111, 5.2.2.4. */
  readonly noCache: boolean;
  readonly mustUnderstand: boolean;
  /** A shared cache must not use it stale (RFC 9111, 4.2.4: must-revalidate, proxy-revalidate, s-maxage). */
  readonly neverStale: boolean;
  /** RFC 9111, 3.5. */
  readonly admitsAuthorized: boolean;
  /** Undefined if the origin does not define it: then `heuristicSeconds` does. */
  readonly lifetimeSeconds: number | undefined;
  readonly whileRevalidateSeconds: number | undefined;
  readonly ifErrorSeconds: number | undefined;
  /** Fields that `no-cache="…"` names: the response is stored without them (RFC 9111, 3.1). */
  readonly unstoredFields: readonly string[];
}

/** The target list (RFC 9213, 2): the first valid one counts, instead of `Cache-Control` and `Expires`. */
const targetedFields = [ownPolicyField, "cdn-cache-control"];

export function readPolicy(headers: readonly string[], nowMs: number): Policy {
  let targeted: Directives | undefined;
  for (const field of targetedFields) targeted ??= readTargeted(joinHeaderLines(headers, field));
  if (targeted) return toPolicy(targeted, undefined);
  const directives = parseCacheControl(joinHeaderLines(headers, "cache-control"));
  return toPolicy(directives, expiresSeconds(headers, nowMs));
}

function toPolicy(directives: Directives, lifetimeByExpires: number | undefined): Policy {
  const sharedSeconds = secondsOf(directives, "s-maxage");
  const mustRevalidate = directives.has("must-revalidate");
  const isPublic = directives.has("public");
  const noCacheFields = fieldsOf(directives.get("no-cache"));
  return {
    isPublic,
    // A qualified private="…" counts as private, which is stricter (RFC 9111, 5.2.2.7).
    isPrivate: directives.has("private"),
    noStore: directives.has("no-store"),
    noCache: directives.has("no-cache") && noCacheFields.length === 0,
    mustUnderstand: directives.has("must-understand"),
    neverStale: mustRevalidate || directives.has("proxy-revalidate") || sharedSeconds !== undefined,
    admitsAuthorized: isPublic || mustRevalidate || sharedSeconds !== undefined,
    // In the order of RFC 9111, 4.2.1.
    lifetimeSeconds: sharedSeconds ?? secondsOf(directives, "max-age") ?? lifetimeByExpires,
    whileRevalidateSeconds: secondsOf(directives, "stale-while-revalidate"),
    ifErrorSeconds: secondsOf(directives, "stale-if-error"),
    unstoredFields: noCacheFields,
  };
}

function fieldsOf(argument: string | true | undefined): readonly string[] {
  if (argument === undefined || argument === true) return [];
  const names = argument.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "");
}

/** RFC 9111, 5.3: 0 for an invalid date. */
function expiresSeconds(headers: readonly string[], nowMs: number): number | undefined {
  const [expires] = listHeaderValues(headers, "expires");
  if (expires === undefined) return undefined;
  const expiresMs = parseHttpDate(expires, nowMs);
  if (expiresMs === undefined) return 0;
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", nowMs) ?? nowMs;
  return Math.min(secondsMax, Math.max(0, Math.floor((expiresMs - dateMs) / 1_000)));
}

const withSeconds: ReadonlySet<string> = new Set(["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]);

/** Undefined for a field that is to be ignored (RFC 9213, 2.1 and 2.2). */
function readTargeted(text: string | undefined): Directives | undefined {
  const members = text === undefined ? undefined : parseDictionary(text);
  if (!members || members.size === 0) return undefined;
  const directives = new Map<string, string | true>();
  for (const [name, item] of members) {
    if (withSeconds.has(name) && !isSeconds(item)) return undefined;
    // `no-store=?0` counts as no directive.
    if (item.kind === "boolean" && !item.value) continue;
    const hasArgument = item.kind !== "boolean" && item.kind !== "inner-list";
    directives.set(name, hasArgument ? String(item.value) : true);
  }
  return directives;
}

function isSeconds(item: StructuredItem): boolean {
  return item.kind === "integer" && item.value >= 0;
}

/** By name in lower case; the first one of repeated directives (RFC 9111, 4.2.1). `true`: no argument. */
export type Directives = ReadonlyMap<string, string | true>;

/** Matches a comma, or a directive with its name in group 1 and its argument in group 2 (quoted) or 3 (not quoted). */
const directivePattern = /\s*(?:,|([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?\s*(?=,|$))/y;

/** RFC 9111, 5.2. An invalid directive is skipped up to the next comma: an unknown extension must not hide a `no-store`. */
export function parseCacheControl(text: string | undefined): Directives {
  const directives = new Map<string, string | true>();
  if (text === undefined) return directives;
  let at = 0;
  while (at < text.length) {
    directivePattern.lastIndex = at;
    const match = directivePattern.exec(text);
    if (!match) {
      at = skipToComma(text, at);
      continue;
    }
    at = directivePattern.lastIndex;
    const name = match[1]?.toLowerCase();
    if (name === undefined || directives.has(name)) continue;
    directives.set(name, match[2] ?? match[3] ?? true);
  }
  return directives;
}

function skipToComma(text: string, from: number): number {
  const comma = text.indexOf(",", from);
  return comma < 0 ? text.length : comma + 1;
}

/** Larger numbers of seconds count as this one (RFC 9111, 1.2.2). */
export const secondsMax = 2 ** 31;

const decimalDigits = /^\d+$/;

/** RFC 9111, 1.2.2. 0 for an invalid number, so that the response counts as stale (4.2.1). */
export function secondsOf(directives: Directives, name: string): number | undefined {
  const argument = directives.get(name);
  if (argument === undefined) return undefined;
  const isNumber = argument !== true && decimalDigits.test(argument);
  return isNumber ? Math.min(Number(argument), secondsMax) : 0;
}

export interface StorageCandidate {
  readonly status: number;
  readonly policy: Policy;
  readonly wasAuthorized: boolean;
}

/** Statuses with caching rules that this cache implements; `must-understand` requires it (RFC 9111, 5.2.2.3). */
const understoodStatuses: ReadonlySet<number> = new Set([
  200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 408, 409, 410, 411, 412,
  413, 414, 415, 416, 417, 421, 422, 426, 428, 429, 500, 501, 502, 503, 504, 505,
]);

/** Whether the response may be stored (RFC 9111, 3, in the order of the section). The caller checks `Vary: *`. */
export function isStorable({ status, policy, wasAuthorized }: StorageCandidate): boolean {
  // Final responses only; 206 and 304 are not complete responses.
  if (status < 200 || status === 206 || status === 304) return false;
  // 5.2.2.3: a cache that understands the status ignores a no-store beside must-understand; any other stores nothing.
  if (policy.mustUnderstand && !understoodStatuses.has(status)) return false;
  if (policy.noStore && !policy.mustUnderstand) return false;
  if (policy.isPrivate) return false;
  if (wasAuthorized && !policy.admitsAuthorized) return false;
  return policy.isPublic || policy.lifetimeSeconds !== undefined || cacheableByDefault.has(status);
}

export interface StorageWorth {
  readonly policy: Policy;
  readonly heuristicSeconds: number;
  readonly hasValidator: boolean;
}

export function isWorthStoring({ policy, heuristicSeconds, hasValidator }: StorageWorth): boolean {
  if (hasValidator) return true;
  if (policy.noCache) return false;
  const lifetimeSeconds = policy.lifetimeSeconds ?? heuristicSeconds;
  if (lifetimeSeconds > 0) return true;
  if (policy.neverStale) return false;
  const { whileRevalidateSeconds = 0, ifErrorSeconds = 0 } = policy;
  return whileRevalidateSeconds > 0 || ifErrorSeconds > 0;
}

/** Heuristically cacheable statuses (RFC 9110, 15.1), without 206, which is never stored here. */
const cacheableByDefault: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]);

/** A tenth of the time since the last modification (RFC 9111, 4.2.2). 0 if the status or missing headers do not permit it. */
export function heuristicSeconds(
  {
    status,
    headers,
    isPublic,
  }: { readonly status: number; readonly headers: readonly string[]; readonly isPublic: boolean },
  { receivedAtMs, heuristicSecondsMax }: { readonly receivedAtMs: number; readonly heuristicSecondsMax: number },
): number {
  if (!cacheableByDefault.has(status) && !isPublic) return 0;
  const modifiedMs = parseHttpDate(findHeader(headers, "last-modified") ?? "", receivedAtMs);
  if (modifiedMs === undefined) return 0;
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", receivedAtMs) ?? receivedAtMs;
  const unmodifiedSeconds = (dateMs - modifiedMs) / 1_000;
  const tenthSeconds = Math.floor(unmodifiedSeconds / 10);
  return Math.max(0, Math.min(heuristicSecondsMax, tenthSeconds));
}
