/** A stored response: its headers, its age and freshness (RFC 9111, 4.2), and the requests that it may answer (4.1). */
import { parseHttpDate } from "@tributary/kit/http/http-date";
import { findHeader, joinHeaderLines, parseTokens, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { type Validators, validatorsOf } from "./conditional.ts";
import { heuristicSeconds, isStorable, isWorthStoring, type Policy, readPolicy, secondsMax } from "./policy.ts";
import { parseList } from "./structured-fields.ts";

/** The head of a response as it is stored, with everything that is derived from it. */
export interface StoredHead {
  readonly status: number;
  /** Alternating names and values, without `Age`, which is added at each use. */
  readonly headers: readonly string[];
  /** The subset for a 304 (RFC 9110, 15.4.5). */
  readonly notModifiedHeaders: readonly string[];
  readonly policy: Policy;
  readonly lifetimeSeconds: number;
  readonly generatedAtMs: number;
  readonly validators: Validators;
  readonly selection: Selection;
  /** RFC 9875, 2. */
  readonly groups: readonly string[];
}

/** A read as it was sent to the origin, with its position in the order of invalidations and writes; see `invalidation.ts`. */
export interface SentRead {
  readonly origin: string;
  readonly key: string;
  readonly sentAt: number;
  /** When it was sent, in milliseconds since 1970, if a client's `no-cache` caused it. */
  readonly validationSentAtMs?: number | undefined;
}

/** One stored response to a `GET`. Immutable: a 304 creates a new entry with the same body. */
export interface Entry extends StoredHead {
  readonly key: string;
  /** Of the request that fetched or validated it, see `SentRead`. */
  readonly sentAt: number;
  /** See `SentRead`. */
  readonly validationSentAtMs: number | undefined;
  readonly body: Buffer;
  /** Memory of body, headers and key, plus `entryOverheadBytes`. */
  readonly bytes: number;
}

export interface HeadOptions {
  readonly targetedFields: readonly string[];
  readonly heuristicSecondsMax: number;
}

/** When a request was sent and when the head of its response was received, in milliseconds since 1970. */
export interface ExchangeTimes {
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

export interface ReceivedHead extends ExchangeTimes {
  readonly status: number;
  readonly headers: readonly string[];
  readonly wasAuthorized: boolean;
  readonly selecting: Selecting;
}

/** The minimum that RFC 9875, 2 requires; a response with more or longer groups is not stored. */
const groupsMax = 64;
const groupLengthMax = 256;
/** For the objects of an entry, besides its bytes: measured with 20,000 responses with eight headers and bodies of 20 to 2,000 bytes. */
const entryOverheadBytes = 2_048;

/** Undefined if the response must not be stored (RFC 9111, 3) or is not worth it. */
export function toStoredHead(received: ReceivedHead, o: HeadOptions): StoredHead | undefined {
  const { status, receivedAtMs, wasAuthorized } = received;
  const policy = readPolicy(received.headers, o.targetedFields, receivedAtMs);
  const fields = varyFields(received.headers);
  if (fields === "*" || !isStorable({ status, policy, wasAuthorized })) return undefined;
  const { heuristicSecondsMax } = o;
  const { isPublic } = policy;
  const heuristic = heuristicSeconds(
    { status, headers: received.headers, isPublic },
    { receivedAtMs, heuristicSecondsMax },
  );
  const hasValidator = ["etag", "last-modified"].some((name) => findHeader(received.headers, name) !== undefined);
  const groups = readGroups(received.headers);
  if (!groups || !isWorthStoring({ policy, heuristicSeconds: heuristic, hasValidator })) return undefined;
  const headers = withDate(storedHeaders(received.headers, [...policy.unstoredFields, "age"]), receivedAtMs);
  return {
    status,
    headers,
    notModifiedHeaders: withoutHeaders(headers, (name) => !repeatedIn304.has(name)),
    policy,
    lifetimeSeconds: policy.lifetimeSeconds ?? heuristic,
    generatedAtMs: generatedAtMs(received.headers, received),
    validators: validatorsOf(headers, receivedAtMs),
    selection: selectionOf(fields, received.selecting),
    groups,
  };
}

export function toEntry(
  { key, sentAt, validationSentAtMs }: Omit<SentRead, "origin">,
  head: StoredHead,
  body: Buffer,
): Entry {
  const headers = withLength(head, body);
  let bytes = entryOverheadBytes + body.length + 2 * key.length;
  // Twice: the list for a 304 repeats some of them.
  for (const part of headers) bytes += 2 * part.length;
  return { ...head, headers, key, sentAt, validationSentAtMs, body, bytes };
}

/**
 * When the origin generated the response: the age at any later time is the time since then (RFC 9111, 4.2.3). It is the earlier of what `Date`
 * and `Age` say, with the response delay included in `Age`.
 */
export function generatedAtMs(headers: readonly string[], { requestedAtMs, receivedAtMs }: ExchangeTimes): number {
  const dateMs = parseHttpDate(findHeader(headers, "date") ?? "", receivedAtMs) ?? receivedAtMs;
  const apparentAgeMs = Math.max(0, receivedAtMs - dateMs);
  const correctedAgeMs = ageValueSeconds(headers) * 1_000 + Math.max(0, receivedAtMs - requestedAtMs);
  return receivedAtMs - Math.max(apparentAgeMs, correctedAgeMs);
}

/** RFC 9111, 5.1: the first member of a list counts; an invalid value is ignored. */
export function ageValueSeconds(headers: readonly string[]): number {
  const first = (findHeader(headers, "age") ?? "").split(",", 1)[0]?.trim() ?? "";
  return /^\d+$/.test(first) ? Math.min(Number(first), secondsMax) : 0;
}

/** Whole seconds, never negative: a clock may be set back. */
export function ageSeconds({ generatedAtMs }: Pick<StoredHead, "generatedAtMs">, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - generatedAtMs) / 1_000));
}

/** Seconds of freshness that remain; negative when stale. */
export function secondsLeft(head: StoredHead, nowMs: number): number {
  return head.lifetimeSeconds - ageSeconds(head, nowMs);
}

/** RFC 9111, 4.2: the lifetime exceeds the age. A response with `no-cache` is never fresh. */
export function isFresh(head: StoredHead, nowMs: number): boolean {
  return !head.policy.noCache && secondsLeft(head, nowMs) > 0;
}

/** Headers of one connection, or for one proxy only (RFC 9111, 3.1; RFC 9110, 7.6.1). */
const neverStored: ReadonlySet<string> = new Set([
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

/** The headers to store or to forward: without hop-by-hop headers, headers that `Connection` names, and `unstoredFields`. */
export function storedHeaders(headers: readonly string[], unstoredFields: readonly string[] = []): string[] {
  const named = new Set([...parseTokens(joinHeaderLines(headers, "connection")), ...unstoredFields]);
  return withoutHeaders(headers, (name) => neverStored.has(name) || named.has(name));
}

/** A recipient that stores a response without `Date` adds the time of receipt (RFC 9110, 6.6.1). */
export function withDate(headers: string[], receivedAtMs: number): string[] {
  if (findHeader(headers, "date") !== undefined) return headers;
  return [...headers, "Date", new Date(receivedAtMs).toUTCString()];
}

/** Replaces a missing or wrong `Content-Length`: the length of a stored body is known. */
function withLength({ status, headers }: StoredHead, body: Buffer): readonly string[] {
  const others = withoutHeaders(headers, (name) => name === "content-length");
  return status === 204 ? others : [...others, "Content-Length", String(body.length)];
}

/** Headers that a 304 repeats (RFC 9110, 15.4.5), and those for caches. */
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

/** Undefined if the groups exceed the limits. */
function readGroups(headers: readonly string[]): readonly string[] | undefined {
  const groups = groupNames(joinHeaderLines(headers, "cache-groups"));
  const isTooMuch = groups.length > groupsMax || groups.some((group) => group.length > groupLengthMax);
  return isTooMuch ? undefined : groups;
}

/** The names in `Cache-Groups` or `Cache-Group-Invalidation` (RFC 9875, 2 and 3), each once; none if the field is invalid. */
export function groupNames(text: string | undefined): readonly string[] {
  const members = text === undefined ? [] : (parseList(text) ?? []);
  const names = members.map((member) => (member.kind === "string" ? member.value : undefined));
  return names.includes(undefined) ? [] : [...new Set(names.filter((name) => name !== undefined))];
}

/** The request headers that `Vary` names, with their values in the request that fetched the response (RFC 9111, 4.1). */
export interface Selection {
  /** In lower case, sorted, each once. */
  readonly fields: readonly string[];
  readonly values: readonly (string | undefined)[];
}

export type Selecting = (field: string) => string | undefined;

/** The fields that `Vary` names; `"*"` if no other request matches. */
export function varyFields(headers: readonly string[]): readonly string[] | "*" {
  const fields = [...new Set(parseTokens(joinHeaderLines(headers, "vary")))].sort();
  return fields.includes("*") ? "*" : fields;
}

export function selectionOf(fields: readonly string[], selecting: Selecting): Selection {
  return { fields, values: fields.map(selecting) };
}

/** All values are equal; a missing header matches only a missing header. */
export function isSelected({ fields, values }: Selection, selecting: Selecting): boolean {
  for (let at = 0; at < fields.length; at++) {
    if (selecting(fields[at] ?? "") !== values[at]) return false;
  }
  return true;
}

export function isSameSelection(a: Selection, b: Selection): boolean {
  return (
    a.fields.length === b.fields.length &&
    a.fields.every((field, at) => field === b.fields[at] && a.values[at] === b.values[at])
  );
}

/** Whether no request can select both: a field that both name has different values. */
export function isDisjoint(a: Selection, b: Selection): boolean {
  return a.fields.some((field, at) => {
    const other = b.fields.indexOf(field);
    return other >= 0 && a.values[at] !== b.values[other];
  });
}
