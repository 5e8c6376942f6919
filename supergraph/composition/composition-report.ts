import type { CompositionError } from "./composition-errors.ts";
import { distinctPlaces, printCompositionError, printPlace } from "./composition-errors.ts";
import type { Place } from "./places.ts";
import type { SchemaBaseline } from "./schema-baseline.ts";
import type { ChangedSubgraph, KeyEdit, SchemaEdit } from "./schema-edits.ts";
import { findChangedSubgraphs, keysOf, parseIfValid } from "./schema-edits.ts";
import type { SubgraphSource } from "../subgraphs.ts";

export interface ReportOptions {
  readonly sources: readonly SubgraphSource[];
  readonly baseline: SchemaBaseline | undefined;
  readonly all?: boolean;
}

/** Errors that follow from the same edit, or else have the same code and type. */
interface Cause {
  readonly edit: SchemaEdit | undefined;
  readonly coordinate: string | undefined;
  readonly errors: readonly [CompositionError, ...CompositionError[]];
}

/** Also the maximum of the changed files, and of the references to a key. */
const causesMax = 5;
const placesMax = 3;
const messageLinesMax = 4;
const allCommand = "npm run check -- --all";

/** The errors of the graph by cause, as one edit may have many, and each of the others, such as those of a contract. */
export function reportErrors(errors: readonly CompositionError[], options: ReportOptions): string[] {
  const schemaFiles = new Set(options.sources.map(({ file }) => file));
  const isOfGraph = ({ file }: CompositionError) => file === undefined || schemaFiles.has(file);
  const ofGraph = errors.filter(isOfGraph);
  const others = errors.filter((error) => !isOfGraph(error));
  return [
    ...(ofGraph.length > 0 ? reportCompositionErrors(ofGraph, options) : []),
    ...others.map(printCompositionError),
  ];
}

/** The files that changed since the baseline, then the errors grouped by cause. Causes in changed files come first. */
export function reportCompositionErrors(errors: readonly CompositionError[], options: ReportOptions): string[] {
  const { sources, baseline, all = false } = options;
  const changed = baseline ? findChangedSubgraphs(sources, baseline) : [];
  const changedFiles = new Set(changed.map(({ source }) => source.file));
  const causes = groupByCause(errors, changed, sources).toSorted(
    (a, b) => rankOf(a, changedFiles) - rankOf(b, changedFiles),
  );
  const schemaFiles = new Set(sources.map(({ file }) => file));
  const areAboutSchemas = errors.some(({ file }) => file === undefined || schemaFiles.has(file));
  const listedFiles = areAboutSchemas ? changed.slice(0, causesMax).map(({ source }) => printPlace(source)) : [];
  const headline = listedFiles.length > 0 ? [`changed since ${baseline?.name}: ${listedFiles.join(", ")}`] : [];
  if (all) return [...headline, ...causes.flatMap((cause) => cause.errors.map(printCompositionError))];
  const context = { baseline, changedFiles, sources };
  const causeLines = causes.slice(0, causesMax).flatMap((cause) => printCause(cause, context));
  return [...headline, ...causeLines, ...summarize(causes, errors)];
}

function groupByCause(
  errors: readonly CompositionError[],
  changed: readonly ChangedSubgraph[],
  sources: readonly SubgraphSource[],
): readonly Cause[] {
  const subgraphNames = new Set(sources.map(({ name }) => name));
  // Edited keys first: an error that can follow from several edits is attributed to the first of them.
  const edits = changed
    .flatMap((subgraph) => subgraph.edits)
    .toSorted((a, b) => Number(b.kind === "key") - Number(a.kind === "key"));
  const causes = new Map<unknown, Cause>();
  for (const error of errors) {
    // An error without advice, such as SCHEMA_MISSING, quotes no coordinates. A syntax error quotes tokens.
    const quotesCoordinates = error.advice !== undefined && error.code !== "SYNTAX_ERROR";
    const quoted = quotesCoordinates ? coordinatesIn(error.message) : [];
    const mentioned = quoted.filter((name) => !subgraphNames.has(name));
    const edit = edits.find((candidate) => concerns(candidate, mentioned));
    const coordinate = edit?.coordinate ?? mentioned[0];
    const key = edit ?? groupKeyOf(error, coordinate);
    const known = causes.get(key);
    if (known) causes.set(key, { ...known, errors: [...known.errors, error] });
    else causes.set(key, { edit, coordinate, errors: [error] });
  }
  return [...causes.values()];
}

/** An error without a coordinate is a separate cause, so it is its own key. */
function groupKeyOf(error: CompositionError, coordinate: string | undefined): unknown {
  if (coordinate === undefined) return error;
  const [type] = coordinate.split(".");
  return `${error.code} ${type}`;
}

const coordinatePattern = /"([A-Za-z_]\w*(?:\.\w+)?)["(]|Unknown type (\w+)/g;

/** Finds coordinates in an error's text: "User", "User.posts", "User.posts(first:)", or `Unknown type User`. */
function coordinatesIn(message: string): readonly string[] {
  return [...message.matchAll(coordinatePattern)].map(([, quoted, type]) => quoted ?? type ?? "");
}

function concerns(edit: SchemaEdit, mentioned: readonly string[]): boolean {
  if (mentioned.includes(edit.coordinate)) return true;
  const fieldPrefix = `${edit.coordinate}.`;
  switch (edit.kind) {
    case "key":
      // Without the type, `id` may be the key of another one.
      return edit.removedKeys.some((fields) => mentioned.includes(`${fieldPrefix}${fields}`));
    case "removed":
    case "added":
      return mentioned.some((name) => name.startsWith(fieldPrefix));
    case "changed":
      return false;
  }
}

/** Sort order: causes that follow from an edited key, from another edit, with a place in a changed file, others. */
function rankOf({ edit, errors }: Cause, changedFiles: ReadonlySet<string>): number {
  if (edit) return edit.kind === "key" ? 0 : 1;
  const isInChangedFile = errors.flatMap(placesOf).some(({ file }) => changedFiles.has(file));
  return isInChangedFile ? 2 : 3;
}

interface PrintContext {
  readonly baseline: SchemaBaseline | undefined;
  readonly changedFiles: ReadonlySet<string>;
  readonly sources: readonly SubgraphSource[];
}

function printCause(cause: Cause, context: PrintContext): string[] {
  const { edit, coordinate = "", errors } = cause;
  if (edit?.kind === "key") return printKeyCause(edit, errors, context.sources);
  const [{ code, message, advice }, ...otherErrors] = errors;
  const places = distinctPlaces(errors.flatMap(placesOf)).toSorted(
    (a, b) => Number(context.changedFiles.has(b.file)) - Number(context.changedFiles.has(a.file)),
  );
  const [firstPlace, ...otherPlaces] = distinctPlaces(edit?.place ? [edit.place, ...places] : places);
  const isRemoval = edit?.kind === "removed";
  const location = printPlace(firstPlace ?? errors[0]) + (isRemoval ? ` as of ${context.baseline?.name}` : "");
  const lines = [[location, code, coordinate].filter(Boolean).join(" ")];
  if (isRemoval) lines.push(`  ${coordinate} was removed.`);
  for (const line of shorten(message)) lines.push(`  ${line}`);
  if (otherErrors.length > 0) lines.push(`  and ${formatCount(otherErrors.length, "more error")} with this cause`);
  for (const place of otherPlaces.slice(0, placesMax)) lines.push(`  see also ${printPlace(place)}`);
  const omittedPlaces = otherPlaces.length - placesMax;
  if (omittedPlaces > 0) lines.push(`  and ${formatCount(omittedPlaces, "more place")}`);
  if (advice !== undefined) lines.push(`  To fix: ${advice}`);
  return lines;
}

function printKeyCause(
  { coordinate, place, removedKeys, keys }: KeyEdit,
  errors: Cause["errors"],
  sources: readonly SubgraphSource[],
): string[] {
  const references = sources.flatMap((source) => {
    const parsed = source.name === place?.subgraph ? undefined : parseIfValid(source);
    return parsed ? keysOf(parsed, coordinate).filter(({ fields }) => removedKeys.includes(fields)) : [];
  });
  const head = [printPlace(place ?? {}), "KEY_CHANGED", coordinate].filter(Boolean).join(" ");
  const codes = [...new Set(errors.map(({ code }) => code))].join(", ");
  const before = quoteKeys(removedKeys);
  const now = quoteKeys(keys);
  const wasRemoved = keys.length === 0;
  const change = wasRemoved
    ? `The key of ${coordinate}, ${before}, was removed.`
    : `The key of ${coordinate} changed from ${before} to ${now}.`;
  const directives = [...removedKeys, ...keys].map((fields) => `@key(fields: "${fields}")`).join(" ");
  const fix = wasRemoved
    ? `restore the key: type ${coordinate} ${directives}.`
    : `keep the old key beside the new one until the other subgraphs use the new one: type ${coordinate} ${directives}, with the fields of both.`;
  return [
    head,
    `  ${change}`,
    `  ${formatCount(errors.length, "error")} ${errors.length === 1 ? "follows" : "follow"} from it: ${codes}.`,
    ...(references.length > 0 ? [`  Other subgraphs refer to ${coordinate} by ${before}:`] : []),
    ...references.slice(0, causesMax).map((reference) => `    ${printPlace(reference.place)}`),
    `  To fix: ${fix} See "Rename a key" in CONTRIBUTING.md.`,
  ];
}

function quoteKeys(keys: readonly string[]): string {
  return keys.map((fields) => `"${fields}"`).join(" and ");
}

/** The first lines of a message; for a satisfiability error, the reasons only. */
function shorten(message: string): string[] {
  const reasons = message.split("cannot be satisfied by the subgraphs because:\n")[1] ?? message;
  const lines = reasons.split("\n");
  const omittedLines = lines.length - messageLinesMax;
  if (omittedLines <= 0) return lines;
  return [...lines.slice(0, messageLinesMax), `… (${formatCount(omittedLines, "more line")}: ${allCommand})`];
}

function summarize(causes: readonly Cause[], errors: readonly CompositionError[]): string[] {
  if (errors.length === 1) return [];
  const omittedCauses = causes.length - causesMax;
  const omission = omittedCauses > 0 ? `and ${formatCount(omittedCauses, "more cause")}. ` : "";
  const isComplete = omittedCauses <= 0 && causes.every(isPrintedInFull);
  const hint = isComplete ? "" : ` All of them in full: ${allCommand}`;
  return [`${omission}${formatCount(causes.length, "cause")}, ${formatCount(errors.length, "error")}.${hint}`];
}

function isPrintedInFull({ edit, errors }: Cause): boolean {
  const [{ message }, ...others] = errors;
  const places = distinctPlaces(errors.flatMap(placesOf));
  return (
    edit === undefined &&
    others.length === 0 &&
    places.length <= placesMax + 1 &&
    shorten(message).join("\n") === message
  );
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function placesOf({ subgraph, owner, file, line, column, elsewhere = [] }: CompositionError): readonly Place[] {
  const hasFile = subgraph !== undefined && owner !== undefined && file !== undefined;
  const isPlace = hasFile && line !== undefined && column !== undefined;
  return isPlace ? [{ subgraph, owner, file, line, column }, ...elsewhere] : elsewhere;
}
