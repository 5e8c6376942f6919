import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, stringify } from "yaml";
import { type Change, changeId } from "./changes.ts";
import { platformTeam } from "../subgraphs.ts";

/** A breaking change that a team may make, because no client depends on the removed part. */
export interface AcceptedChange {
  /** `FIELD_REMOVED Post.body`. */
  readonly change: string;
  readonly owner: string;
  readonly reason: string;
  /** The last day on which the change is accepted, in UTC: `2026-12-31`. */
  readonly until: string;
  readonly line: number;
}

export type ParsedAcceptedChanges =
  | { readonly ok: true; readonly entries: readonly AcceptedChange[] }
  | { readonly ok: false; readonly errors: readonly string[] };

export const acceptedChangesFile = "supergraph/accepted-changes.yaml";

const changeIdPattern = /^[A-Z]+(_[A-Z]+)*( \S.*)?$/;
const teamPattern = /^@[\w-]+\/[\w-]+$/;
const datePattern = /^\d{4}-\d\d-\d\d$/;
const keys = ["change", "owner", "reason", "until"] as const;

const rules = {
  change: {
    expected: "as npm run check prints it, such as FIELD_REMOVED User.email",
    isValid: (text: string) => changeIdPattern.test(text),
  },
  owner: {
    expected: "a team as in CODEOWNERS, such as @tributary/platform-team",
    isValid: (text: string) => teamPattern.test(text),
  },
  reason: { expected: "text", isValid: () => true },
  until: { expected: "a date such as 2026-01-31", isValid: isDate },
};

const dayMs = 24 * 60 * 60_000;
const suggestedDays = 30;
const entriesPrintedMax = 5;

export function readAcceptedChanges(root: string): ParsedAcceptedChanges {
  const path = join(root, acceptedChangesFile);
  return parseAcceptedChanges(existsSync(path) ? readFileSync(path, "utf8") : "");
}

/** Returns all problems, each with its line. */
export function parseAcceptedChanges(text: string): ParsedAcceptedChanges {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  const { contents } = document;
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  const lineOf: LineOf = (node) => lineAt(isNode(node) ? (node.range?.[0] ?? 0) : 0);
  const errors: string[] = [];
  const report: Report = (line, message) => errors.push(`${acceptedChangesFile}:${line}: ${message}`);
  const entries: AcceptedChange[] = [];
  if (document.errors.length > 0) {
    for (const { pos, message } of document.errors) report(lineAt(pos[0]), message);
  } else if (isSeq(contents)) {
    for (const item of contents.items) {
      const entry = readEntry(item, lineOf, report);
      const earlier = entries.find(({ change }) => change !== "" && change === entry.change);
      if (earlier) report(entry.line, `${entry.change} is already accepted in line ${earlier.line}.`);
      entries.push(entry);
    }
  } else if (contents !== null && !(isScalar(contents) && contents.value === null)) {
    report(lineOf(contents), "the file must be a list of entries.");
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, entries };
}

type LineOf = (node: unknown) => number;
type Report = (line: number, message: string) => void;

/** What is missing or no text is empty in the result. */
function readEntry(item: unknown, lineOf: LineOf, report: Report): AcceptedChange {
  const entry = { change: "", owner: "", reason: "", until: "", line: lineOf(item) };
  if (!isMap(item)) {
    report(entry.line, `an entry must be a map with the keys ${keys.join(", ")}.`);
    return entry;
  }
  const unknownKeys = item.items.filter(({ key }) => !Object.hasOwn(rules, String(key)));
  for (const { key } of unknownKeys)
    report(lineOf(key), `unknown key ${String(key)}. The keys are ${keys.join(", ")}.`);
  for (const name of keys) {
    const pair = item.items.find(({ key }) => String(key) === name);
    if (!pair) {
      report(entry.line, `${name} is missing.`);
      continue;
    }
    const { value } = pair;
    entry[name] = isScalar(value) && typeof value.value === "string" ? value.value.trim() : "";
    const problem = findProblem(name, entry);
    if (problem !== undefined) report(lineOf(pair.key), problem);
  }
  return entry;
}

function findProblem(name: (typeof keys)[number], entry: AcceptedChange): string | undefined {
  const text = entry[name];
  const subject = entry.change === "" ? "" : ` (${entry.change})`;
  if (text === "" && name === "reason") return `reason is empty: write why no client depends on it${subject}.`;
  if (text === "") return `${name} must be text.`;
  return rules[name].isValid(text) ? undefined : `${name} must be ${rules[name].expected}.`;
}

/** 2026-02-30 does not exist, but Date.parse can read it as a day of March. */
function isDate(text: string): boolean {
  if (!datePattern.test(text)) return false;
  const timeMs = Date.parse(text);
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(text);
}

export interface AcceptanceResult {
  /** Changes that fail the check: they have no entry, or an invalid one. */
  readonly breaking: readonly Change[];
  readonly unlisted: readonly Change[];
  readonly accepted: readonly AcceptedChange[];
  readonly errors: readonly string[];
  readonly unused: readonly AcceptedChange[];
}

/** @param today the date in UTC: `2026-12-31` */
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

export function printEntriesFor(changes: readonly Change[], today: string): readonly string[] {
  const lastDay = new Date(Date.parse(today) + suggestedDays * dayMs);
  const until = lastDay.toISOString().slice(0, "2026-12-31".length);
  const ownerById = new Map(changes.map((change) => [changeId(change), ownersOf(change)[0]]));
  const entries = [...ownerById].map(([change, owner]) => stringify([{ change, owner, until }], { lineWidth: 0 }));
  // The reason stays empty, which is invalid until the author writes one.
  const lines = entries.slice(0, entriesPrintedMax).map((entry) => `${entry}  reason:`);
  const omittedCount = entries.length - entriesPrintedMax;
  if (omittedCount > 0) lines.push(`# and ${omittedCount} more in this form`);
  return lines;
}
