import type { CompositionError } from "./composition-errors.ts";
import { distinctPlaces, printCompositionError, printPlace } from "./composition-errors.ts";
import type { Place } from "./places.ts";
import type { SchemaBaseline } from "./schema-baseline.ts";
import type { ChangedSubgraph, KeyEdit, SchemaEdit } from "./schema-edits.ts";
import { findChangedSubgraphs, keysOf, parseIfValid } from "./schema-edits.ts";
import type { SubgraphSource } from "../subgraphs.ts";

export interface ReportOptions {
  readonly sources: readonly SubgraphSource[];
  /** Earlier schemas that composed. If undefined, changed files are unknown. */
  readonly baseline: SchemaBaseline | undefined;
  /** Prints every error in full, instead of a few lines for each cause. */
  readonly all?: boolean;
}

/** Errors that follow from the same edit, or else have the same code and type. */
interface Cause {
  readonly edit: SchemaEdit | undefined;
  /** The coordinate that the errors mention, if any. */
  readonly coordinate: string | undefined;
  readonly errors: readonly [CompositionError, ...CompositionError[]];
}

const causesMax = 5;
const placesMax = 3;
const messageLinesMax = 4;
const allCommand = "npm run check -- --all";

/**
 * Formats composition errors for the terminal, as lines: the files that changed since the baseline, then the errors grouped by cause.
 * Causes in changed files come first. Called by each command that composes: `npm run generate`, `npm run check`, `npm start`.
 */
export function reportCompositionErrors(errors: readonly CompositionError[], options: ReportOptions): string[] {
  const { sources, baseline, all = false } = options;
  const changed = baseline ? findChangedSubgraphs(sources, baseline) : [];
  const changedFiles = new Set(changed.map(({ source }) => source.file));
  const causes = groupByCause(errors, changed, sources).toSorted(
    (a, b) => rankOf(a, changedFiles) - rankOf(b, changedFiles),
  );
  // Errors in routes.ts and openapi.ts do not follow from a changed schema.
  const areAboutSchemas = errors.some(({ file }) => file === undefined || sources.some((one) => one.file === file));
  const files = areAboutSchemas ? changed.slice(0, causesMax).map(({ source }) => printPlace(source)) : [];
  const headline = files.length > 0 ? [`changed since ${baseline?.name}: ${files.join(", ")}`] : [];
  if (all) return [...headline, ...causes.flatMap((cause) => cause.errors.map(printCompositionError))];
  const groups = causes.slice(0, causesMax).flatMap((cause) => printCause(cause, { baseline, changedFiles, sources }));
  return [...headline, ...groups, ...summarize(causes, errors)];
}

function groupByCause(
  errors: readonly CompositionError[],
  changed: readonly ChangedSubgraph[],
  sources: readonly SubgraphSource[],
): readonly Cause[] {
  const subgraphNames = new Set(sources.map(({ name }) => name));
  const edits = changed
    .flatMap((one) => one.edits)
    .toSorted((a, b) => Number(b.kind === "key") - Number(a.kind === "key"));
  const causes = new Map<unknown, Cause>();
  for (const error of errors) {
    // Only errors with advice can quote coordinates, except syntax errors, which quote tokens. An error without a coordinate is a separate cause.
    const namesCoordinates = error.advice !== undefined && error.code !== "SYNTAX_ERROR";
    const quoted = namesCoordinates ? coordinatesIn(error.message) : [];
    // Messages also quote the names of subgraphs.
    const mentioned = quoted.filter((name) => !subgraphNames.has(name));
    const edit = edits.find((one) => concerns(one, mentioned));
    const coordinate = edit?.coordinate ?? mentioned[0];
    const key = edit ?? (coordinate === undefined ? error : `${error.code} ${coordinate.split(".")[0]}`);
    const known = causes.get(key);
    causes.set(key, { edit, coordinate, ...known, errors: known ? [...known.errors, error] : [error] });
  }
  return [...causes.values()];
}

/** Finds coordinates in an error's text: "User", "User.posts", "User.posts(first:)", or `Unknown type User`. */
function coordinatesIn(message: string): readonly string[] {
  return [...message.matchAll(/"([A-Za-z_]\w*(?:\.\w+)?)["(]|Unknown type (\w+)/g)].map(
    ([, quoted, type]) => quoted ?? type ?? "",
  );
}

/** Whether an error that mentions these coordinates can follow from the edit. A removed or added type also concerns its fields. */
function concerns(edit: SchemaEdit, mentioned: readonly string[]): boolean {
  const { kind, coordinate } = edit;
  if (kind === "key")
    return mentioned.some(
      (name) => name === coordinate || edit.removedKeys.includes(name.replace(`${coordinate}.`, "")),
    );
  return mentioned.some((name) => name === coordinate || (kind !== "changed" && name.startsWith(`${coordinate}.`)));
}

/** Sort order: causes that follow from an edited key, from another edit, causes with a place in a changed file, other causes. */
function rankOf({ edit, errors }: Cause, changedFiles: ReadonlySet<string>): number {
  if (edit) return edit.kind === "key" ? 0 : 1;
  return errors.some((error) => placesOf(error).some(({ file }) => changedFiles.has(file))) ? 2 : 3;
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
  const [lead, ...others] = distinctPlaces(edit?.place ? [edit.place, ...places] : places);
  const location = `${printPlace(lead ?? errors[0])}${edit?.kind === "removed" ? ` as of ${context.baseline?.name}` : ""}`;
  return [
    [location, code, coordinate].filter(Boolean).join(" "),
    ...(edit?.kind === "removed" ? [`  ${coordinate} was removed.`] : []),
    ...shorten(message).map((line) => `  ${line}`),
    ...(otherErrors.length > 0 ? [`  and ${count(otherErrors.length, "more error")} with this cause`] : []),
    ...others.slice(0, placesMax).map((place) => `  see also ${printPlace(place)}`),
    ...(others.length > placesMax ? [`  and ${count(others.length - placesMax, "more place")}`] : []),
    ...(advice === undefined ? [] : [`  To fix: ${advice}`]),
  ];
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
  const codes = [...new Set(errors.map(({ code }) => code))].join(", ");
  const [before, now] = [removedKeys, keys].map((list) => list.map((fields) => `"${fields}"`).join(" and "));
  const directives = [...removedKeys, ...keys].map((fields) => `@key(fields: "${fields}")`).join(" ");
  const addKey = `keep the old key beside the new one until the other subgraphs use the new one: type ${coordinate} ${directives}, with the fields of both.`;
  return [
    [printPlace(place ?? {}), "KEY_CHANGED", coordinate].filter(Boolean).join(" "),
    now === ""
      ? `  The key of ${coordinate}, ${before}, was removed.`
      : `  The key of ${coordinate} changed from ${before} to ${now}.`,
    `  ${count(errors.length, "error")} ${errors.length === 1 ? "follows" : "follow"} from it: ${codes}.`,
    ...(references.length > 0 ? [`  Other subgraphs refer to ${coordinate} by ${before}:`] : []),
    ...references.slice(0, causesMax).map((one) => `    ${printPlace(one.place)}`),
    `  To fix: ${now === "" ? `restore the key: type ${coordinate} ${directives}.` : addKey} See "Rename a key" in CONTRIBUTING.md.`,
  ];
}

/** The first lines of a message; for a satisfiability error, the reasons only. */
function shorten(message: string): string[] {
  const reasons = message.split("cannot be satisfied by the subgraphs because:\n")[1] ?? message;
  const lines = reasons.split("\n");
  const more = lines.length - messageLinesMax;
  return more > 0 ? [...lines.slice(0, messageLinesMax), `… (${count(more, "more line")}: ${allCommand})`] : lines;
}

function summarize(causes: readonly Cause[], errors: readonly CompositionError[]): string[] {
  if (errors.length === 1) return [];
  const more = causes.length - causesMax;
  const omitted = more > 0 ? `and ${count(more, "more cause")}. ` : "";
  const isComplete = causes.length <= causesMax && causes.every(isPrintedInFull);
  const hint = isComplete ? "" : ` All of them in full: ${allCommand}`;
  return [`${omitted}${count(causes.length, "cause")}, ${count(errors.length, "error")}.${hint}`];
}

/** True if `--all` prints nothing more about this cause. */
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

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function placesOf({ subgraph, owner, file, line, column, elsewhere = [] }: CompositionError): readonly Place[] {
  const isPlace = subgraph !== undefined && owner !== undefined && file !== undefined;
  return isPlace && line !== undefined && column !== undefined
    ? [{ subgraph, owner, file, line, column }, ...elsewhere]
    : elsewhere;
}
