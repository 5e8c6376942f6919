import { findHeader, joinHeaderLines, withoutHeaders } from "@tributary/kit/http/raw-headers";
import { ageSeconds, bornAtMs, type Exchanged, heuristicSeconds } from "./age.ts";
import { type Validators, validatorsOf } from "./conditional.ts";
import type { SentRead } from "./invalidation-log.ts";
import { type Policy, readPolicy } from "./policy.ts";
import { isStorable, isWorthStoring } from "./storable.ts";
import { storedHeaders } from "./stored-headers.ts";
import { parseList } from "./structured-fields.ts";
import { type Selecting, type Selection, selectionOf, varyFields } from "./vary.ts";

/** The head of an answer as it will be stored, and all that follows from it. */
export interface StoredHead {
  readonly status: number;
  /** Names and values in turn; no `Age`, since that is said anew each time. */
  readonly headers: readonly string[];
  /** What a 304 carries of them (RFC 9110, 15.4.5). */
  readonly notModifiedHeaders: readonly string[];
  readonly policy: Policy;
  readonly lifetimeSeconds: number;
  readonly bornAtMs: number;
  readonly validators: Validators;
  readonly selection: Selection;
  /** RFC 9875, 2. */
  readonly groups: readonly string[];
}

/** One stored answer to a `GET`. Never changed: a 304 makes a new one with the same body. */
export interface Entry extends StoredHead {
  readonly key: string;
  /** Of the request that brought or validated it, see invalidation-log.ts. */
  readonly sentAt: number;
  /** See `SentRead`. */
  readonly validationSentAtMs: number | undefined;
  readonly body: Buffer;
  /** What it costs: body, headers, key, and a lump for what objects cost. */
  readonly bytes: number;
}

export interface HeadOptions {
  readonly targetedFields: readonly string[];
  readonly heuristicSecondsMax: number;
}

export interface AnsweredHead extends Exchanged {
  readonly status: number;
  readonly headers: readonly string[];
  readonly wasAuthorized: boolean;
  readonly selecting: Selecting;
}

/** Groups and their length that are kept for one answer at least as many as RFC 9875, 2 asks for; one that has more is not stored at all. */
const groupsMax = 64;
const groupLengthMax = 256;
/** For the objects of an entry, beside its bytes: measured with 20,000 answers of eight headers, 20 to 2,000 bytes long. */
const entryOverheadBytes = 2_048;

/** The head to store, or undefined where the rules or reason forbid it (RFC 9111, 3). */
export function toStoredHead(answer: AnsweredHead, o: HeadOptions): StoredHead | undefined {
  const { status, cameMs } = answer;
  const policy = readPolicy(answer.headers, o.targetedFields, cameMs);
  const fields = varyFields(answer.headers);
  if (fields === "*" || !isStorable({ status, policy, wasAuthorized: answer.wasAuthorized })) return undefined;
  const about = { status, headers: answer.headers, isPublic: policy.isPublic };
  const guessed = heuristicSeconds(about, { cameMs, secondsMax: o.heuristicSecondsMax });
  const hasValidator = ["etag", "last-modified"].some((name) => findHeader(answer.headers, name) !== undefined);
  const groups = readGroups(answer.headers);
  if (!groups || !isWorthStoring({ policy, heuristicSeconds: guessed, hasValidator })) return undefined;
  const headers = withDate(storedHeaders(answer.headers, [...policy.unstoredFields, "age"]), cameMs);
  return {
    status,
    headers,
    notModifiedHeaders: withoutHeaders(headers, (name) => !repeatedIn304.has(name)),
    policy,
    lifetimeSeconds: policy.lifetimeSeconds ?? guessed,
    bornAtMs: bornAtMs(answer.headers, answer),
    validators: validatorsOf(headers, cameMs),
    selection: selectionOf(fields, answer.selecting),
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

/** Negative when stale. */
export function secondsLeft({ lifetimeSeconds, bornAtMs }: StoredHead, nowMs: number): number {
  return lifetimeSeconds - ageSeconds(bornAtMs, nowMs);
}

/** RFC 9111, 4.2: its lifetime is longer than its age; one with `no-cache` never is. */
export function isFresh(head: StoredHead, nowMs: number): boolean {
  return !head.policy.noCache && secondsLeft(head, nowMs) > 0;
}

/** Fields that a 304 repeats (RFC 9110, 15.4.5), with those that speak to caches. */
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

/** RFC 9110, 6.6.1: who receives an answer without a date and keeps it writes down when it came. */
function withDate(headers: string[], cameMs: number): string[] {
  return findHeader(headers, "date") === undefined ? [...headers, "Date", new Date(cameMs).toUTCString()] : headers;
}

/** A stored body has a length that is known, whatever way it came; a wrong one is not repeated. */
function withLength({ status, headers }: StoredHead, body: Buffer): readonly string[] {
  const others = withoutHeaders(headers, (name) => name === "content-length");
  return status === 204 ? others : [...others, "Content-Length", String(body.length)];
}

/** RFC 9875, 2: a list of strings; one that is broken groups nothing. Undefined when it is more than is kept. */
function readGroups(headers: readonly string[]): readonly string[] | undefined {
  const groups = groupNames(joinHeaderLines(headers, "cache-groups"));
  const isTooMuch = groups.length > groupsMax || groups.some((group) => group.length > groupLengthMax);
  return isTooMuch ? undefined : groups;
}

/** The names in `Cache-Groups` or `Cache-Group-Invalidation` (RFC 9875, 2 and 3), each once. */
export function groupNames(text: string | undefined): readonly string[] {
  const members = text === undefined ? [] : (parseList(text) ?? []);
  const names = members.map((member) => (member.kind === "string" ? member.value : undefined));
  return names.includes(undefined) ? [] : [...new Set(names.filter((name) => name !== undefined))];
}
