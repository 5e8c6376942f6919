/**
 * A cache entry is one stored response: its headers, its age and freshness (RFC 9111, 4.2). `toStoredHead` is called for each response of the
 * origin to a `GET`; `policy.ts` has the rules by which it decides, and `vary.ts` finds the entry that matches a request.
 */
import { parseHttpDate } from "@tributary/kit/http/http-date";
import { findHeader, joinHeaderLines, parseTokens, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { parseList } from "@tributary/kit/http/structured-fields";
import type { Fill } from "@tributary/kit/invalidation/invalidation-log";
import { type Validators, validatorsOf } from "./conditional.ts";
import { heuristicSeconds, isStorable, isWorthStoring, type Policy, readPolicy, secondsMax } from "./policy.ts";
import { toVaryKey, varyFields, type VaryKey, type VaryValueOf } from "./vary.ts";

/** The head of a response as it is stored, with everything that is derived from it. */
export interface StoredHead {
  readonly status: number;
  /** Alternating names and values, without `Age`, which is added at each use. `Date` is the last one. */
  readonly headers: readonly string[];
  /** The subset for a 304 (RFC 9110, 15.4.5). */
  readonly notModifiedHeaders: readonly string[];
  readonly policy: Policy;
  /** From the time of generation on; 0 if the response was never fresh. */
  readonly lifetimeSeconds: number;
  /** Milliseconds since 1970, by the clock of this cache; see the function of this name. */
  readonly generatedAtMs: number;
  /** When the request that fetched or validated the response was sent, in milliseconds since 1970: the response has all changes from before. */
  readonly requestedAtMs: number;
  /** What a client's conditions are compared with. */
  readonly validators: Validators;
  readonly varyKey: VaryKey;
  /** The names in `Cache-Groups` (RFC 9875, 2). */
  readonly groups: readonly string[];
}

/** A read as it was sent to the origin. */
export interface SentRead extends Fill {
  readonly key: string;
  /** When it was sent, in milliseconds since 1970, if a client's `no-cache` caused it. */
  readonly validationSentAtMs?: number | undefined;
}

/** One stored response to a `GET`. A 304 creates a new entry with the same body. */
export interface Entry extends StoredHead {
  readonly origin: string;
  readonly key: string;
  /** Position of the request that fetched it, or validated it by a strong ETag; see `SentRead`. */
  readonly position: number;
  /** When that request was sent, if a client's `no-cache` caused it; see `SentRead`. */
  readonly validationSentAtMs: number | undefined;
  readonly body: Buffer;
  /** Memory of body, headers and key, plus `entryOverheadBytes`. */
  readonly bytes: number;
  /** Only `Store` sets it. Such an entry is sent only after the origin has confirmed it. */
  isInvalidated: boolean;
  /** When the entry was last known to be what the origin would send, if that was after its generation; see `SharedCacheOptions.isFollowed`. */
  confirmedAtMs: number | undefined;
}

/** Whether a read was sent to the origin after the call of `SharedCache.mark` that returned `mark`. Always true if `mark` is undefined. */
export function isSentAfter({ position }: { readonly position: number }, mark: number | undefined): boolean {
  return mark === undefined || position >= mark;
}

/** When a request was sent and when the head of its response was received, in milliseconds since 1970. */
export interface ExchangeTimes {
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/** The head of an origin response, with the properties of its request that matter for storing it. */
export interface ReceivedHead extends ExchangeTimes {
  readonly status: number;
  readonly headers: readonly string[];
  /** The request had `Authorization`. */
  readonly wasAuthorized: boolean;
  readonly varyValueOf: VaryValueOf;
  /** See `CacheLookup.heuristicSecondsMax`. */
  readonly heuristicSecondsMax?: number | undefined;
}

/** More than the 32 groups of 32 characters that a cache has to support (RFC 9875, 2). A response with more or longer groups is not stored. */
const groupsMax = 64;
const groupLengthMax = 256;
/** For the objects of an entry, besides its bytes: measured with 20,000 responses with eight headers and bodies of 20 to 2,000 bytes. */
const entryOverheadBytes = 2_048;

/** The headers that a 304 repeats (RFC 9110, 15.4.5), with further headers for caches. */
const repeatedIn304: ReadonlySet<string> = new Set([
  "cache-control",
  "cache-groups",
  "cache-status",
  "cdn-cache-control",
  "content-location",
  "date",
  "etag",
  "expires",
  "last-modified",
  "vary",
]);

/**
 * Decides whether a response is stored, and derives what the cache needs to know of it.
 * @returns undefined if the response must not be stored (`isStorable`; `Vary: *`), could never be used (`isWorthStoring`), or has too many or
 * too long cache groups.
 * @param targetedFields see `SharedCacheOptions.targetedFields`.
 */
export function toStoredHead(received: ReceivedHead, targetedFields: readonly string[]): StoredHead | undefined {
  const { status, receivedAtMs, wasAuthorized, heuristicSecondsMax = 0 } = received;
  const policy = readPolicy(received.headers, targetedFields, receivedAtMs);
  const fields = varyFields(received.headers);
  if (fields === "*") return undefined;
  if (!isStorable({ status, policy, wasAuthorized })) return undefined;
  const { isPublic } = policy;
  const heuristicLifetimeSeconds = heuristicSeconds(
    { status, headers: received.headers, isPublic },
    { receivedAtMs, heuristicSecondsMax },
  );
  const hasValidator = ["etag", "last-modified"].some((name) => findHeader(received.headers, name) !== undefined);
  const groups = readGroups(received.headers);
  if (!groups) return undefined;
  if (!isWorthStoring({ policy, heuristicSeconds: heuristicLifetimeSeconds, hasValidator })) return undefined;
  const endToEnd = endToEndHeaders(received.headers, [...policy.unstoredFields, "age"]);
  const storedHeaders = withDateLast(endToEnd, receivedAtMs);
  return {
    status,
    headers: storedHeaders,
    notModifiedHeaders: withoutHeaders(storedHeaders, (name) => !repeatedIn304.has(name)),
    policy,
    lifetimeSeconds: policy.lifetimeSeconds ?? heuristicLifetimeSeconds,
    generatedAtMs: generatedAtMs(received.headers, received),
    requestedAtMs: received.requestedAtMs,
    validators: validatorsOf(storedHeaders, receivedAtMs),
    varyKey: toVaryKey(fields, received.varyValueOf),
    groups,
  };
}

export function toEntry(
  { origin, key, position, validationSentAtMs }: SentRead,
  head: StoredHead,
  body: Buffer,
): Entry {
  const headers = withLength(head, body);
  let bytes = entryOverheadBytes + body.length + 2 * key.length;
  // Twice the length, since the list for a 304 repeats some of the headers.
  for (const part of headers) bytes += 2 * part.length;
  return {
    ...head,
    headers,
    origin,
    key,
    position,
    validationSentAtMs,
    body,
    bytes,
    isInvalidated: false,
    confirmedAtMs: undefined,
  };
}

/**
 * When the origin generated the response, in milliseconds since 1970; its age is the time since then (RFC 9111, 4.2.3). Returns the earlier of two
 * estimates: the time in `Date`, and the time of receipt minus `Age` and minus the response delay.
 */
export function generatedAtMs(headers: readonly string[], { requestedAtMs, receivedAtMs }: ExchangeTimes): number {
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", receivedAtMs) ?? receivedAtMs;
  const apparentAgeMs = Math.max(0, receivedAtMs - dateMs);
  const correctedAgeMs = ageValueSeconds(headers) * 1_000 + Math.max(0, receivedAtMs - requestedAtMs);
  return receivedAtMs - Math.max(apparentAgeMs, correctedAgeMs);
}

const decimalDigits = /^\d+$/;

/** The value of `Age` (RFC 9111, 5.1): the first member of a list counts; 0 without the header or for an invalid value. */
export function ageValueSeconds(headers: readonly string[]): number {
  const [firstMember = ""] = (findHeader(headers, "age") ?? "").split(",", 1);
  const age = firstMember.trim();
  return decimalDigits.test(age) ? Math.min(Number(age), secondsMax) : 0;
}

/** The times from which the age of a response is counted. Only an `Entry` has `confirmedAtMs`. */
interface AgedResponse {
  readonly generatedAtMs: number;
  readonly confirmedAtMs?: number | undefined;
}

/** The age in whole seconds since the origin generated or confirmed the response (RFC 9111, 5.1). At least 0, also after the clock was set back. */
export function ageSeconds(response: AgedResponse, nowMs: number): number {
  const currentAtMs = response.confirmedAtMs ?? response.generatedAtMs;
  return Math.max(0, Math.floor((nowMs - currentAtMs) / 1_000));
}

/** Seconds of freshness that remain; 0 or negative when stale. If `head` is an `Entry`, its `confirmedAtMs` counts too (`ageSeconds`). */
export function secondsLeft(head: StoredHead, nowMs: number): number {
  return head.lifetimeSeconds - ageSeconds(head, nowMs);
}

/** Whether the lifetime exceeds the age (RFC 9111, 4.2). A response with `no-cache` is never fresh. */
export function isFresh(head: StoredHead, nowMs: number): boolean {
  return !head.policy.noCache && secondsLeft(head, nowMs) > 0;
}

/**
 * Headers of one connection, or for one proxy only (RFC 9111, 3.1; RFC 9110, 7.6.1). The list of the proxy is in `forward/headers.ts`; `cache/`
 * imports nothing of the proxy.
 */
const hopByHopHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The headers without hop-by-hop headers, headers that `Connection` names, and `moreFields`. */
export function endToEndHeaders(headers: readonly string[], moreFields: readonly string[] = []): string[] {
  const named = new Set([...parseTokens(joinHeaderLines(headers, "connection")), ...moreFields]);
  return withoutHeaders(headers, (name) => hopByHopHeaders.has(name) || named.has(name));
}

/** A recipient that stores a response without `Date` adds the time of receipt (RFC 9110, 6.6.1). */
export function withDate(headers: string[], receivedAtMs: number): string[] {
  if (findHeader(headers, "date") !== undefined) return headers;
  return [...headers, "Date", new Date(receivedAtMs).toUTCString()];
}

/** As `withDate`, with `Date` at the end, where write-response.ts replaces it. */
function withDateLast(headers: string[], receivedAtMs: number): string[] {
  const dated = withDate(headers, receivedAtMs);
  const date = findHeader(dated, "date") ?? "";
  return [...withoutHeaders(dated, (name) => name === "date"), "Date", date];
}

/** The headers with the `Content-Length` of the stored body. A 204 has none (RFC 9110, 8.6). */
function withLength({ status, headers }: StoredHead, body: Buffer): readonly string[] {
  const others = withoutHeaders(headers, (name) => name === "content-length");
  return status === 204 ? others : ["Content-Length", String(body.length), ...others];
}

/** The names in `Cache-Groups`, each once. @returns undefined if there are more than `groupsMax`, or one is longer than `groupLengthMax`. */
function readGroups(headers: readonly string[]): readonly string[] | undefined {
  const groups = groupNames(joinHeaderLines(headers, "cache-groups"));
  if (groups.length > groupsMax) return undefined;
  if (groups.some((group) => group.length > groupLengthMax)) return undefined;
  return groups;
}

/** The names in `Cache-Groups` or `Cache-Group-Invalidation` (RFC 9875, 2 and 3), each once; none if the field is invalid. */
export function groupNames(fieldValue: string | undefined): readonly string[] {
  if (fieldValue === undefined) return [];
  const names = new Set<string>();
  for (const member of parseList(fieldValue) ?? []) {
    if (member.kind !== "string") return [];
    names.add(member.value);
  }
  return [...names];
}
