import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify } from "yaml";
import { type Change, changeId } from "./changes.ts";
import { platformTeam } from "../subgraphs.ts";

/** A breaking change that a team may make, because no client uses any more what it takes away. */
export interface AcceptedChange {
  /** The change's id, as `npm run check` prints it: `FIELD_REMOVED Post.body`. */
  readonly change: string;
  /** The team of the file that changes, as in CODEOWNERS. */
  readonly owner: string;
  readonly reason: string;
  /** The last day on which it is accepted, in UTC: `2026-12-31`. */
  readonly until: string;
  readonly line: number;
}

export type ParsedAcceptedChanges =
  | { readonly ok: true; readonly entries: readonly AcceptedChange[] }
  | { readonly ok: false; readonly errors: readonly string[] };

export const acceptedChangesFile = "supergraph/accepted-changes.yaml";

const keys = ["change", "owner", "reason", "until"] as const;
const daysSuggested = 30;
const entriesPrintedMax = 5;

/** Reads the file below `root`. Without a file nothing is accepted. */
export function readAcceptedChanges(root: string): ParsedAcceptedChanges {
  const path = join(root, acceptedChangesFile);
  return parseAcceptedChanges(existsSync(path) ? readFileSync(path, "utf8") : "");
}

/** Validates the file's text strictly: every problem, each with its line. */
export function parseAcceptedChanges(text: string): ParsedAcceptedChanges {
  const lines = new LineCounter();
  const { contents, errors } = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (node: unknown) => lines.linePos(isNode(node) ? (node.range?.[0] ?? 0) : 0).line;
  const refuse = (problems: readonly Problem[]) => ({
    ok: false as const,
    errors: problems.map(({ line, message }) => `${acceptedChangesFile}:${line}: ${message}`),
  });
  if (errors.length > 0)
    return refuse(errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })));
  if (contents === null || (isScalar(contents) && contents.value === null)) return { ok: true, entries: [] };
  if (!isSeq(contents)) return refuse([{ line: lineOf(contents), message: "the file has to be a list of entries." }]);
  const entries = contents.items.map((item) => readEntry(item, lineOf));
  const problems = entries.flatMap((entry, index) => {
    const first = entries
      .slice(0, index)
      .find(({ change }) => change !== undefined && change.text === entry.change?.text);
    const repeated = `${first?.change?.text} is accepted in line ${first?.line} already.`;
    return [...problemsOf(entry), ...(first ? [{ line: entry.line, message: repeated }] : [])];
  });
  return problems.length > 0 ? refuse(problems) : { ok: true, entries: entries.map(toAcceptedChange) };
}

interface Problem {
  readonly line: number;
  readonly message: string;
}

type Key = (typeof keys)[number];

/** An entry as it is written. A value that is no text is undefined. */
interface WrittenEntry extends Partial<Record<Key, { readonly line: number; readonly text: string | undefined }>> {
  readonly line: number;
  readonly problems: readonly Problem[];
}

function readEntry(item: unknown, lineOf: (node: unknown) => number): WrittenEntry {
  const line = lineOf(item);
  if (!isMap(item)) return { line, problems: [{ line, message: `an entry has the keys ${keys.join(", ")}.` }] };
  const pairs = item.items.map(({ key, value }) => {
    const text = isScalar(value) && typeof value.value === "string" ? value.value.trim() : "";
    return { key: String(key), line: lineOf(key), text: text === "" ? undefined : text };
  });
  const unknown = pairs.filter(({ key }) => !keys.includes(key as Key));
  const missing = keys.filter((key) => pairs.every((pair) => pair.key !== key));
  return {
    ...Object.fromEntries(pairs.map((pair) => [pair.key, pair])),
    line,
    problems: [
      ...unknown.map((one) => ({
        line: one.line,
        message: `${one.key} is not known. The keys are ${keys.join(", ")}.`,
      })),
      ...missing.map((key) => ({ line, message: `${key} is missing.` })),
    ],
  };
}

function problemsOf(entry: WrittenEntry): readonly Problem[] {
  const rules: Readonly<Record<Key, { readonly expected: string; isValid(text: string): boolean }>> = {
    change: {
      expected: "as npm run check prints it, such as FIELD_REMOVED User.email",
      isValid: (text) => /^[A-Z]+(_[A-Z]+)*( \S.*)?$/.test(text),
    },
    owner: {
      expected: "a team as in CODEOWNERS, such as @tributary/users-team",
      isValid: (text) => /^@[\w-]+\/[\w-]+$/.test(text),
    },
    reason: { expected: "text", isValid: () => true },
    until: { expected: "a date such as 2026-01-31", isValid: isDate },
  };
  const wrong = keys.flatMap((key) => {
    const value = entry[key];
    if (value === undefined || (value.text !== undefined && rules[key].isValid(value.text))) return [];
    if (value.text === undefined && key === "reason")
      return [{ line: value.line, message: `reason is empty: write why no client uses it (${entry.change?.text}).` }];
    const expected = value.text === undefined ? "text" : rules[key].expected;
    return [{ line: value.line, message: `${key} has to be ${expected}.` }];
  });
  return [...entry.problems, ...wrong];
}

/** A day of the calendar: 2026-02-30 is none. */
function isDate(text: string): boolean {
  const timeMs = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text);
}

function toAcceptedChange({ line, ...entry }: WrittenEntry): AcceptedChange {
  const [change = "", owner = "", reason = "", until = ""] = keys.map((key) => entry[key]?.text);
  return { change, owner, reason, until, line };
}

/** Breaking changes held against the entries. */
export interface Judgement {
  /** The changes that fail the check; those without an entry are `unlisted`. */
  readonly breaking: readonly Change[];
  readonly unlisted: readonly Change[];
  readonly accepted: readonly AcceptedChange[];
  /** Why an entry does not accept its change: it expired, or names another owner. */
  readonly errors: readonly string[];
  readonly unused: readonly AcceptedChange[];
}

/** Holds breaking changes against the entries. `today` is a date as in an entry. */
export function judgeChanges(changes: readonly Change[], entries: readonly AcceptedChange[], today: string): Judgement {
  const breaking = changes.filter(({ level }) => level === "breaking");
  const entryOf = new Map(entries.map((entry) => [entry.change, entry]));
  const judged = breaking.map((change) => {
    const entry = entryOf.get(changeId(change));
    return { change, entry, error: entry && errorOf(entry, change, today) };
  });
  const refused = judged.filter(({ entry, error }) => entry === undefined || error !== undefined);
  const refusedIds = new Set(refused.map(({ change }) => changeId(change)));
  const ids = new Set(breaking.map(changeId));
  return {
    breaking: refused.map(({ change }) => change),
    unlisted: refused.filter(({ entry }) => entry === undefined).map(({ change }) => change),
    accepted: entries.filter(({ change }) => ids.has(change) && !refusedIds.has(change)),
    errors: [...new Set(refused.flatMap(({ error }) => error ?? []))],
    unused: entries.filter(({ change }) => !ids.has(change)),
  };
}

function errorOf(
  { change: id, owner, until, line }: AcceptedChange,
  change: Change,
  today: string,
): string | undefined {
  const owners = ownersOf(change);
  const spot = `${acceptedChangesFile}:${line} ${id}`;
  if (!owners.includes(owner))
    return `WRONG_OWNER ${spot} belongs to ${owners.join(" and ")}, not to ${owner}. Correct the owner.`;
  if (until < today)
    return `EXPIRED ${spot} was accepted until ${until}. Take the change back, or agree with ${owner} on a later date.`;
  return undefined;
}

function ownersOf({ places }: Change): readonly [string, ...string[]] {
  const [first = platformTeam, ...others] = new Set(places.map(({ owner }) => owner));
  return [first, ...others];
}

/** The entries that would accept these changes, for pasting into the file: a person adds the reason. */
export function printEntriesFor(changes: readonly Change[], today: string): readonly string[] {
  const until = new Date(Date.parse(today) + daysSuggested * 24 * 60 * 60_000).toISOString().slice(0, 10);
  const owners = new Map(changes.map((change) => [changeId(change), ownersOf(change)[0]]));
  const entries = [...owners].map(([change, owner]) => stringify([{ change, owner, until }], { lineWidth: 0 }));
  const more = entries.length - entriesPrintedMax;
  return [
    ...entries.slice(0, entriesPrintedMax).map((entry) => `${entry}  reason:`),
    ...(more > 0 ? [`# and ${more} more in this form`] : []),
  ];
}
