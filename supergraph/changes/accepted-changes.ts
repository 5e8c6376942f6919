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
const suggestedDays = 30;
const entriesPrintedMax = 5;

/** Reads the file below `root`. A missing file is an empty list. */
export function readAcceptedChanges(root: string): ParsedAcceptedChanges {
  const path = join(root, acceptedChangesFile);
  return parseAcceptedChanges(existsSync(path) ? readFileSync(path, "utf8") : "");
}

/** Parses the file's text, or returns all problems, each with its line. */
export function parseAcceptedChanges(text: string): ParsedAcceptedChanges {
  const lines = new LineCounter();
  const { contents, errors } = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (node: unknown) => lines.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0).line;
  const reject = (problems: readonly EntryProblem[]) => ({
    ok: false as const,
    errors: problems.map(({ line, message }) => `${acceptedChangesFile}:${line}: ${message}`),
  });
  if (errors.length > 0)
    return reject(errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })));
  if (contents === null || (isScalar(contents) && contents.value === null)) return { ok: true, entries: [] };
  if (!isSeq(contents)) return reject([{ line: lineOf(contents), message: "the file must be a list of entries." }]);
  const entries = contents.items.map((item) => readEntry(item, lineOf));
  const problems = entries.flatMap((entry, index) => {
    const first = entries
      .slice(0, index)
      .find(({ change }) => change !== undefined && change.text === entry.change?.text);
    const ofEntry = validateEntry(entry);
    if (first === undefined) return ofEntry;
    return [
      ...ofEntry,
      { line: entry.line, message: `${first.change?.text} is already accepted in line ${first.line}.` },
    ];
  });
  return problems.length > 0 ? reject(problems) : { ok: true, entries: entries.map(toAcceptedChange) };
}

interface EntryProblem {
  readonly line: number;
  readonly message: string;
}

type EntryKey = (typeof keys)[number];

/** An entry before validation. The text of a value that is empty or not a string is undefined. */
interface UncheckedEntry extends Partial<
  Record<EntryKey, { readonly line: number; readonly text: string | undefined }>
> {
  readonly line: number;
  readonly problems: readonly EntryProblem[];
}

function readEntry(item: unknown, lineOf: (node: unknown) => number): UncheckedEntry {
  const line = lineOf(item);
  if (!isMap(item))
    return { line, problems: [{ line, message: `an entry must be a map with the keys ${keys.join(", ")}.` }] };
  const pairs = item.items.map(({ key, value }) => {
    const text = isScalar(value) && typeof value.value === "string" ? value.value.trim() : "";
    return { key: String(key), line: lineOf(key), text: text === "" ? undefined : text };
  });
  const unknown = pairs.filter(({ key }) => !keys.includes(key as EntryKey));
  const missing = keys.filter((key) => pairs.every((pair) => pair.key !== key));
  return {
    ...Object.fromEntries(pairs.map((pair) => [pair.key, pair])),
    line,
    problems: [
      ...unknown.map((one) => ({
        line: one.line,
        message: `unknown key ${one.key}. The keys are ${keys.join(", ")}.`,
      })),
      ...missing.map((key) => ({ line, message: `${key} is missing.` })),
    ],
  };
}

function validateEntry(entry: UncheckedEntry): readonly EntryProblem[] {
  const rules: Readonly<Record<EntryKey, { readonly expected: string; isValid(text: string): boolean }>> = {
    change: {
      expected: "as npm run check prints it, such as FIELD_REMOVED User.email",
      // As `changeId` writes it: the code and, unless it is empty, the subject.
      isValid: (text) => /^[A-Z]+(_[A-Z]+)*( \S.*)?$/.test(text),
    },
    owner: {
      expected: "a team as in CODEOWNERS, such as @tributary/platform-team",
      isValid: (text) => /^@[\w-]+\/[\w-]+$/.test(text),
    },
    reason: { expected: "text", isValid: () => true },
    until: { expected: "a date such as 2026-01-31", isValid: isDate },
  };
  const invalidValues = keys.flatMap((key) => {
    const value = entry[key];
    if (value === undefined || (value.text !== undefined && rules[key].isValid(value.text))) return [];
    if (value.text === undefined && key === "reason")
      return [
        { line: value.line, message: `reason is empty: write why no client depends on it (${entry.change?.text}).` },
      ];
    const expected = value.text === undefined ? "text" : rules[key].expected;
    return [{ line: value.line, message: `${key} must be ${expected}.` }];
  });
  return [...entry.problems, ...invalidValues];
}

/** True for a date that exists: 2026-02-30 does not. */
function isDate(text: string): boolean {
  const timeMs = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text);
}

function toAcceptedChange({ line, ...entry }: UncheckedEntry): AcceptedChange {
  const [change = "", owner = "", reason = "", until = ""] = keys.map((key) => entry[key]?.text);
  return { change, owner, reason, until, line };
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
  const entryOf = new Map(entries.map((entry) => [entry.change, entry]));
  const checked = breaking.map((change) => {
    const entry = entryOf.get(changeId(change));
    return { change, entry, error: entry && findEntryError(entry, change, today) };
  });
  const rejected = checked.filter(({ entry, error }) => entry === undefined || error !== undefined);
  const rejectedIds = new Set(rejected.map(({ change }) => changeId(change)));
  const ids = new Set(breaking.map(changeId));
  return {
    breaking: rejected.map(({ change }) => change),
    unlisted: rejected.filter(({ entry }) => entry === undefined).map(({ change }) => change),
    // Changes with different owners can have one id: an entry is accepted if it accepts all of them.
    accepted: entries.filter(({ change }) => ids.has(change) && !rejectedIds.has(change)),
    errors: [...new Set(rejected.flatMap(({ error }) => error ?? []))],
    unused: entries.filter(({ change }) => !ids.has(change)),
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
  const until = new Date(Date.parse(today) + suggestedDays * 24 * 60 * 60_000).toISOString().slice(0, 10);
  const owners = new Map(changes.map((change) => [changeId(change), ownersOf(change)[0]]));
  const entries = [...owners].map(([change, owner]) => stringify([{ change, owner, until }], { lineWidth: 0 }));
  const more = entries.length - entriesPrintedMax;
  return [
    // Each entry ends with a line break. The reason stays empty, which `validateEntry` rejects until the author writes one.
    ...entries.slice(0, entriesPrintedMax).map((entry) => `${entry}  reason:`),
    ...(more > 0 ? [`# and ${more} more in this form`] : []),
  ];
}
