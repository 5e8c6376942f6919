/** A cache entry is one stored response: its headers, its age and freshness (RFC 9111, 4.2). */
import { parseHttpDate } from "@tributary/kit/http/http-date";
import {
  findHeader,
  hasHeader,
  isHopByHop,
  joinHeaderLines,
  parseTokens,
  withoutHeaders,
} from "@tributary/kit/http/raw-headers";
import { parseList } from "@tributary/kit/http/structured-fields";
import type { Fill } from "@tributary/kit/invalidation/invalidation-log";
import { type Validators, validatorsOf } from "./conditional.ts";
import {
  heuristicSeconds,
  isStorable,
  isWorthStoring,
  ownPolicyField,
  type Policy,
  readPolicy,
  secondsMax,
} from "./policy.ts";
import { toVaryKey, varyFields, type VaryKey, type VaryValueOf } from "./vary.ts";

export interface StoredHead {
  readonly status: number;
  /** Alternating names and values, without `Age`, which is added at each use. `Date` is the last one. */
  readonly headers: readonly string[];
  /** The subset for a 304 (RFC 9110, 15.4.5). */
  readonly notModifiedHeaders: readonly string[];
  readonly policy: Policy;
  /** From the time of generation on; 0 if the response was never fresh. */
  readonly lifetimeSeconds: number;
  readonly generatedAtMs: number;
  /** In milliseconds since 1970: the response has all changes from before. */
  readonly requestedAtMs: number;
  readonly validators: Validators;
  readonly varyKey: VaryKey;
  readonly groups: readonly string[];
}

export interface SentRead extends Fill {
  readonly key: string;
  /** When it was sent, in milliseconds since 1970, if a client's `no-cache` caused it. */
  readonly validationSentAtMs?: number | undefined;
}

/** One stored response to a `GET`. A 304 creates a new entry with the same body. */
export interface Entry extends StoredHead {
  readonly origin: string;
  readonly key: string;
  readonly position: number;
  readonly validationSentAtMs: number | undefined;
  readonly body: Buffer;
  /** Memory of body, headers and key, plus `entryOverheadBytes`. */
  readonly bytes: number;
  /** Only `Store` sets it. Such an entry is sent only after the origin has confirmed it. */
  isInvalidated: boolean;
  /** When the entry was last known to be current, if later than its generation (`SharedCacheOptions.isFollowed`). */
  confirmedAtMs: number | undefined;
}

/** @param mark from `SharedCache.mark`. */
export function isSentAfter({ position }: { readonly position: number }, mark: number | undefined): boolean {
  return mark === undefined || position >= mark;
}

export interface ExchangeTimes {
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

export interface ReceivedHead extends ExchangeTimes {
  readonly status: number;
  readonly headers: readonly string[];
  readonly wasAuthorized: boolean;
  readonly varyValueOf: VaryValueOf;
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

export function toStoredHead(received: ReceivedHead): StoredHead | undefined {
  const { status, receivedAtMs, wasAuthorized, heuristicSecondsMax = 0 } = received;
  const policy = readPolicy(received.headers, receivedAtMs);
  const fields = varyFields(received.headers);
  if (fields === "*") return undefined;
  // Stricter than RFC 9111, 7.3: whatever its Cache-Control says, a cookie is for the client of this request.
  if (hasHeader(received.headers, "set-cookie")) return undefined;
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
  const endToEnd = endToEndHeaders(received.headers, [...policy.unstoredFields, ownPolicyField, "age"]);
  const storedHeaders = withDateLast(endToEnd, receivedAtMs);
  return {
    status,
    headers: storedHeaders,
    notModifiedHeaders: withoutHeaders(storedHeaders, (name) => !repeatedIn304.has(name)),
    policy,
    lifetimeSeconds: policy.lifetimeSeconds ?? heuristicLifetimeSeconds,
    // A policy for this cache alone is of the origin itself, not of a cache before it: a clock that is behind must not make the response old.
    generatedAtMs: hasHeader(received.headers, ownPolicyField)
      ? received.requestedAtMs
      : generatedAtMs(received.headers, received),
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

/** The earlier of two estimates (RFC 9111, 4.2.3): `Date`, and the time of receipt minus `Age` and the response delay. */
export function generatedAtMs(headers: readonly string[], { requestedAtMs, receivedAtMs }: ExchangeTimes): number {
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", receivedAtMs) ?? receivedAtMs;
  const apparentAgeMs = Math.max(0, receivedAtMs - dateMs);
  const correctedAgeMs = ageValueSeconds(headers) * 1_000 + Math.max(0, receivedAtMs - requestedAtMs);
  return receivedAtMs - Math.max(apparentAgeMs, correctedAgeMs);
}

const decimalDigits = /^\d+$/;

/** RFC 9111, 5.1: the first member of a list counts. */
export function ageValueSeconds(headers: readonly string[]): number {
  const [firstMember = ""] = (findHeader(headers, "age") ?? "").split(",", 1);
  const age = firstMember.trim();
  return decimalDigits.test(age) ? Math.min(Number(age), secondsMax) : 0;
}

interface AgedResponse {
  readonly generatedAtMs: number;
  readonly confirmedAtMs?: number | undefined;
}

/** RFC 9111, 5.1. At least 0, also after the clock was set back. */
export function ageSeconds(response: AgedResponse, nowMs: number): number {
  const currentAtMs = response.confirmedAtMs ?? response.generatedAtMs;
  return Math.max(0, Math.floor((nowMs - currentAtMs) / 1_000));
}

/** 0 or negative when stale. */
export function secondsLeft(head: StoredHead, nowMs: number): number {
  return head.lifetimeSeconds - ageSeconds(head, nowMs);
}

/** RFC 9111, 4.2. Not after the clock was set back, by an unknown time. */
export function isFresh(head: StoredHead, nowMs: number): boolean {
  return nowMs >= head.requestedAtMs && !head.policy.noCache && secondsLeft(head, nowMs) > 0;
}

/** RFC 9111, 3.1. */
export function endToEndHeaders(headers: readonly string[], moreFields: readonly string[] = []): string[] {
  const named = new Set([...parseTokens(joinHeaderLines(headers, "connection")), ...moreFields]);
  return withoutHeaders(headers, (name) => isHopByHop(name) || named.has(name));
}

/** A recipient that stores a response without `Date` adds the time of receipt (RFC 9110, 6.6.1). */
export function withDate(headers: string[], receivedAtMs: number): string[] {
  if (findHeader(headers, "date") !== undefined) return headers;
  return [...headers, "Date", new Date(receivedAtMs).toUTCString()];
}

function withDateLast(headers: string[], receivedAtMs: number): string[] {
  const dated = withDate(headers, receivedAtMs);
  const date = findHeader(dated, "date") ?? "";
  return [...withoutHeaders(dated, (name) => name === "date"), "Date", date];
}

/** A 204 has no `Content-Length` (RFC 9110, 8.6). */
function withLength({ status, headers }: StoredHead, body: Buffer): readonly string[] {
  const others = withoutHeaders(headers, (name) => name === "content-length");
  return status === 204 ? others : ["Content-Length", String(body.length), ...others];
}

function readGroups(headers: readonly string[]): readonly string[] | undefined {
  const groups = groupNames(joinHeaderLines(headers, "cache-groups"));
  if (groups.length > groupsMax) return undefined;
  if (groups.some((group) => group.length > groupLengthMax)) return undefined;
  return groups;
}

/** `Cache-Groups` or `Cache-Group-Invalidation` (RFC 9875, 2 and 3); none if the field is invalid. */
export function groupNames(fieldValue: string | undefined): readonly string[] {
  if (fieldValue === undefined) return [];
  const names = new Set<string>();
  for (const member of parseList(fieldValue) ?? []) {
    if (member.kind !== "string") return [];
    names.add(member.value);
  }
  return [...names];
}
