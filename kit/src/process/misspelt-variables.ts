import type { Log } from "./log.ts";

/** A variable that the process does not read, and the read variable with the most similar name. */
export interface MisspeltVariable {
  readonly name: string;
  readonly nearest: string;
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface KnownNames {
  /** Read by name. */
  readonly names: ReadonlySet<string>;
  /** All names with one of these prefixes are read, such as `SUBGRAPH_URL_`. */
  readonly prefixes: ReadonlySet<string>;
}

/** A name resembles another if it is at most this many edits from it. */
const editsMax = 2;
/** For names of up to seven characters. Two edits would make another word: `HOME` and `PATH` are two edits from `HOST` and `PORT`. */
const editsOfShortMax = 1;
const shortCharactersMax = 7;
/** Longer names are not compared: a comparison takes time in proportion to the product of the lengths. */
const charactersMax = 100;
/** The name of a service, and what Kubernetes adds to it. */
const serviceLinkName = /^(.+?)_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_.*)?$/;

/**
 * Variables that are set, that the process does not read, and whose names resemble one that it reads. Names of Kubernetes' service links are
 * left out: they are made from the names of services.
 */
export function findMisspeltVariables(
  environment: EnvironmentVariables,
  known: KnownNames,
): readonly MisspeltVariable[] {
  const misspelt: MisspeltVariable[] = [];
  for (const [name, value] of Object.entries(environment)) {
    // An empty value counts as not set, as in env.ts.
    if (value === "" || name.length > charactersMax) continue;
    if (isKnown(name, known) || isServiceLink(name, environment)) continue;
    const variable = findNearest(name, known);
    if (variable) misspelt.push(variable);
  }
  return misspelt;
}

function isKnown(name: string, { names, prefixes }: KnownNames): boolean {
  if (names.has(name)) return true;
  return [...prefixes].some((prefix) => name.startsWith(prefix));
}

/** Logs one line for each at start; the process ignores the values. Values are not logged, since they may be secrets. */
export function warnOfMisspeltVariables(log: Log, variables: readonly MisspeltVariable[]): void {
  for (const { name, nearest } of variables)
    log.warn({ variable: name, nearest }, `unknown variable ${name} ignored: did you mean ${nearest}?`);
}

/**
 * Kubernetes sets `X_SERVICE_HOST`, `X_SERVICE_PORT…`, `X_PORT` and `X_PORT_…` for each service X of the namespace
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables). Without `ADMIM_SERVICE_HOST` there is no service
 * ADMIM, and `ADMIM_PORT` is a spelling mistake.
 */
function isServiceLink(name: string, environment: EnvironmentVariables): boolean {
  const [, service] = serviceLinkName.exec(name) ?? [];
  return service !== undefined && environment[`${service}_SERVICE_HOST`] !== undefined;
}

function findNearest(name: string, { names, prefixes }: KnownNames): MisspeltVariable | undefined {
  let nearest: string | undefined;
  let fewestEdits = Number.POSITIVE_INFINITY;
  /** @param part of `name`: the whole name, or as much as the known prefix has. */
  const compare = (part: string, knownPart: string, suggestion: string) => {
    const edits = countEdits(part, knownPart);
    const isShort = Math.min(part.length, knownPart.length) <= shortCharactersMax;
    const isSimilar = edits <= (isShort ? editsOfShortMax : editsMax);
    if (isSimilar && edits < fewestEdits) {
      nearest = suggestion;
      fewestEdits = edits;
    }
  };
  for (const knownName of names) compare(name, knownName, knownName);
  // Of a variable such as SUBGRAPH_URL_USERS only the prefix is compared.
  for (const prefix of prefixes) compare(name.slice(0, prefix.length), prefix, `${prefix}…`);
  return nearest === undefined ? undefined : { name, nearest };
}

/** Insertions, deletions, substitutions and swaps of neighbours: Damerau-Levenshtein distance, no part edited twice. */
function countEdits(a: string, b: string): number {
  // Rows of the table of distances: a cell has the distance between the first `row` characters of `a` and the first `column` of `b`.
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        cellAt(last, column) + 1,
        cellAt(current, column - 1) + 1,
        cellAt(last, column - 1) + (isSame ? 0 : 1),
        isSwap ? cellAt(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return cellAt(last, b.length);
}

/** Infinity outside of the row, so that it is never the minimum. */
function cellAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
