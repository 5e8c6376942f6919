import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify } from "yaml";
import { type Change, changeId } from "./changes.ts";
import { platformTeam } from "../subgraphs.ts";

/** An entry of accepted-changes.yaml: a breaking change that a team may make, because no client depends on the removed part. */
export interface AcceptedChange {
  /** The change's id, as `npm run check` prints it: `FIELD_REMOVED Post.body`. */
  readonly change: string;
  /** The team that owns the changed file, as in CODEOWNERS. */
  readonly owner: string;
  readonly reason: string;
  /** The last day on which the change is accepted, in UTC: `2026-12-31`. */
  readonly until: string;
  /** Line of the entry in the file, from 1. */
  readonly line: number;
}

export type ParsedAcceptedChanges =
  | { readonly ok: true; readonly entries: readonly AcceptedChange[] }
  | { readonly ok: false; readonly errors: readonly string[] };

export const acceptedChangesFile = "supergraph/accepted-changes.yaml";

const keys = ["change", "owner", "reason", "until"] as const;
type EntryKey = (typeof keys)[number];

interface EntryValue {
  readonly line: number;
  /** Undefined if the value is empty or not a string. */
  readonly text: string | undefined;
}

interface EntryProblem {
  readonly line: number;
  readonly message: string;
}

/** An entry before validation. */
interface UncheckedEntry extends Partial<Record<EntryKey, EntryValue>> {
  readonly line: number;
  /** Unknown and missing keys. */
  readonly problems: readonly EntryProblem[];
}

interface ValueRule {
  readonly expected: string;
  isValid(text: string): boolean;
}

/** As `changeId` writes it: the code and, unless it is empty, the subject. */
const changeIdPattern = /^[A-Z]+(_[A-Z]+)*( \S.*)?$/;
const teamPattern = /^@[\w-]+\/[\w-]+$/;
const datePattern = /^\d{4}-\d\d-\d\d$/;

const rules: Readonly<Record<EntryKey, ValueRule>> = {
  change: {
    expected: "as npm run check prints it, such as FIELD_REMOVED User.email",
    isValid: (text) => changeIdPattern.test(text),
  },
  owner: {
    expected: "a team as in CODEOWNERS, such as @tributary/platform-team",
    isValid: (text) => teamPattern.test(text),
  },
  reason: { expected: "text", isValid: () => true },
  until: { expected: "a date such as 2026-01-31", isValid: isDate },
};

const dayMs = 24 * 60 * 60_000;
const suggestedDays = 30;
const entriesPrintedMax = 5;

/** Reads the file below `root`. A missing file is an empty list. */
export function readAcceptedChanges(root: string): ParsedAcceptedChanges {
  const path = join(root, acceptedChangesFile);
  return parseAcceptedChanges(existsSync(path) ? readFileSync(path, "utf8") : "");
}

/** Parses the file's text, or returns all problems, each with its line. */
export function parseAcceptedChanges(text: string): ParsedAcceptedChanges {
  const lineCounter = new LineCounter();
  const { contents, errors } = parseDocument(text, { lineCounter, prettyErrors: false });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  const lineOf = (node: unknown) => lineAt(isNode(node) ? (node.range?.[0] ?? 0) : 0);
  const reject = (problems: readonly EntryProblem[]) => ({
    ok: false as const,
    errors: problems.map(({ line, message }) => `${acceptedChangesFile}:${line}: ${message}`),
  });
  if (errors.length > 0) return reject(errors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message })));
  const isEmpty = contents === null || (isScalar(contents) && contents.value === null);
  if (isEmpty) return { ok: true, entries: [] };
  if (!isSeq(contents)) return reject([{ line: lineOf(contents), message: "the file must be a list of entries." }]);
  const entries = contents.items.map((item) => readEntry(item, lineOf));
  const problems = entries.flatMap((entry, index) => [
    ...validateEntry(entry),
    ...findDuplicate(entry, entries.slice(0, index)),
  ]);
  if (problems.length > 0) return reject(problems);
  return { ok: true, entries: entries.map(toAcceptedChange) };
}

function readEntry(item: unknown, lineOf: (node: unknown) => number): UncheckedEntry {
  const line = lineOf(item);
  if (!isMap(item))
    return { line, problems: [{ line, message: `an entry must be a map with the keys ${keys.join(", ")}.` }] };
  const pairs = item.items.map(({ key, value }) => {
    const text = isScalar(value) && typeof value.value === "string" ? value.value.trim() : "";
    return { key: String(key), line: lineOf(key), text: text === "" ? undefined : text };
  });
  const unknownPairs = pairs.filter(({ key }) => !keys.includes(key as EntryKey));
  const unknownKeyProblems = unknownPairs.map((pair) => ({
    line: pair.line,
    message: `unknown key ${pair.key}. The keys are ${keys.join(", ")}.`,
  }));
  const missingKeys = keys.filter((key) => pairs.every((pair) => pair.key !== key));
  const missingKeyProblems = missingKeys.map((key) => ({ line, message: `${key} is missing.` }));
  return {
    ...Object.fromEntries(pairs.map((pair) => [pair.key, pair])),
    line,
    problems: [...unknownKeyProblems, ...missingKeyProblems],
  };
}

function validateEntry(entry: UncheckedEntry): readonly EntryProblem[] {
  const invalidValues = keys.flatMap((key) => {
    const value = entry[key];
    // `readEntry` has reported a missing key.
    if (value === undefined) return [];
    const { line, text } = value;
    if (text === undefined && key === "reason") {
      const id = entry.change?.text;
      const subject = id === undefined ? "" : ` (${id})`;
      return [{ line, message: `reason is empty: write why no client depends on it${subject}.` }];
    }
    if (text === undefined) return [{ line, message: `${key} must be text.` }];
    const rule = rules[key];
    if (rule.isValid(text)) return [];
    return [{ line, message: `${key} must be ${rule.expected}.` }];
  });
  return [...entry.problems, ...invalidValues];
}

/** A problem if an earlier entry accepts the same change; otherwise empty. */
function findDuplicate(entry: UncheckedEntry, earlierEntries: readonly UncheckedEntry[]): readonly EntryProblem[] {
  const id = entry.change?.text;
  if (id === undefined) return [];
  const earlier = earlierEntries.find(({ change }) => change?.text === id);
  if (earlier === undefined) return [];
  return [{ line: entry.line, message: `${id} is already accepted in line ${earlier.line}.` }];
}

/** True for a date that exists: 2026-02-30 does not. */
function isDate(text: string): boolean {
  if (!datePattern.test(text)) return false;
  const timeMs = Date.parse(text);
  // Date.parse can read a day that does not exist as a day of the next month.
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text);
}

/** For a valid entry: every key has a text, and `""` is only for the type. */
function toAcceptedChange({ change, owner, reason, until, line }: UncheckedEntry): AcceptedChange {
  return {
    change: change?.text ?? "",
    owner: owner?.text ?? "",
    reason: reason?.text ?? "",
    until: until?.text ?? "",
    line,
  };
}

/** The breaking changes, sorted by whether an entry accepts them. */
export interface AcceptanceResult {
  /** Changes that fail the check: they have no entry, or an invalid one. */
  readonly breaking: readonly Change[];
  /** The changes in `breaking` that have no entry. */
  readonly unlisted: readonly Change[];
  readonly accepted: readonly AcceptedChange[];
  /** Messages about entries that expired or name another owner. */
  readonly errors: readonly string[];
  /** Entries that no breaking change matches. */
  readonly unused: readonly AcceptedChange[];
}

/**
 * Matches breaking changes with the entries that accept them.
 * @param today the date in UTC, as in an entry: `2026-12-31`
 */
export function applyAcceptedChanges(
  changes: readonly Change[],
  entries: readonly AcceptedChange[],
  today: string,
): AcceptanceResult {
  const breaking = changes.filter(({ level }) => level === "breaking");
  const entryById = new Map(entries.map((entry) => [entry.change, entry]));
  const checked = breaking.map((change) => {
    const entry = entryById.get(changeId(change));
    const error = entry === undefined ? undefined : findEntryError(entry, change, today);
    return { change, entry, error };
  });
  const rejected = checked.filter(({ entry, error }) => entry === undefined || error !== undefined);
  const rejectedIds = new Set(rejected.map(({ change }) => changeId(change)));
  const breakingIds = new Set(breaking.map(changeId));
  return {
    breaking: rejected.map(({ change }) => change),
    unlisted: rejected.filter(({ entry }) => entry === undefined).map(({ change }) => change),
    // Changes with different owners can have one id: an entry is accepted if it accepts all of them.
    accepted: entries.filter(({ change }) => breakingIds.has(change) && !rejectedIds.has(change)),
    errors: [...new Set(rejected.flatMap(({ error }) => error ?? []))],
    unused: entries.filter(({ change }) => !breakingIds.has(change)),
  };
}

function findEntryError(
  { change: id, owner, until, line }: AcceptedChange,
  change: Change,
  today: string,
): string | undefined {
  const owners = ownersOf(change);
  const entry = `${acceptedChangesFile}:${line} ${id}`;
  if (!owners.includes(owner))
    return `WRONG_OWNER ${entry} belongs to ${owners.join(" and ")}, not to ${owner}. Correct the owner.`;
  if (until < today)
    return `EXPIRED ${entry} was accepted until ${until}. Revert the change, or agree with ${owner} on a later date.`;
  return undefined;
}

/** A change without a place belongs to the platform team. */
function ownersOf({ places }: Change): readonly [string, ...string[]] {
  const [first = platformTeam, ...others] = new Set(places.map(({ owner }) => owner));
  return [first, ...others];
}

/** Prints entries that accept these changes, to paste into the file. The author adds the reason. */
export function printEntriesFor(changes: readonly Change[], today: string): readonly string[] {
  const lastDay = new Date(Date.parse(today) + suggestedDays * dayMs);
  const until = lastDay.toISOString().slice(0, "2026-12-31".length);
  const ownerById = new Map(changes.map((change) => [changeId(change), ownersOf(change)[0]]));
  const entries = [...ownerById].map(([change, owner]) => stringify([{ change, owner, until }], { lineWidth: 0 }));
  // Each entry ends with a line break. The reason stays empty, which `validateEntry` rejects until the author writes one.
  const lines = entries.slice(0, entriesPrintedMax).map((entry) => `${entry}  reason:`);
  const omittedCount = entries.length - entriesPrintedMax;
  if (omittedCount > 0) lines.push(`# and ${omittedCount} more in this form`);
  return lines;
}
