import type { Log } from "./log.ts";

export interface MisspeltVariable {
  readonly name: string;
  readonly nearest: string;
}

type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface KnownNames {
  readonly names: ReadonlySet<string>;
  /** Such as `SUBGRAPH_URL_`. */
  readonly prefixes: ReadonlySet<string>;
}

const editsMax = 2;
/** Two edits would make another word: `HOME` and `PATH` are two edits from `HOST` and `PORT`. */
const editsOfShortMax = 1;
const shortCharactersMax = 7;
/** Shorter beginnings are common: `HOST_IP` is no misspelt `HOST`. */
const beginningCharactersMin = 4;
const variableBeginningCharactersMin = 12;
/** A comparison takes time in proportion to the product of the lengths. */
const charactersMax = 100;
const serviceLinkName = /^(.+?)_(?:SERVICE_HOST|SERVICE_PORT|PORT)(?:_.*)?$/;

/** Variables that the process does not read, and whose names resemble one that it reads. */
export function findMisspeltVariables(
  environment: EnvironmentVariables,
  known: KnownNames,
): readonly MisspeltVariable[] {
  const misspelt: MisspeltVariable[] = [];
  for (const [name, value] of Object.entries(environment)) {
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

export function warnOfMisspeltVariables(log: Log, variables: readonly MisspeltVariable[]): void {
  for (const { name, nearest } of variables)
    log.warn({ variable: name, nearest }, `unknown variable ${name} ignored: did you mean ${nearest}?`);
}

/**
 * Kubernetes sets `X_SERVICE_HOST` and `X_PORT…` for each service X of the namespace
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables). Without `ADMIM_SERVICE_HOST`, `ADMIM_PORT` is a spelling
 * mistake.
 */
function isServiceLink(name: string, environment: EnvironmentVariables): boolean {
  const [, service] = serviceLinkName.exec(name) ?? [];
  return service !== undefined && environment[`${service}_SERVICE_HOST`] !== undefined;
}

/** Of the known words: one that differs by few edits, or that has `word` as its beginning, or the other way round. */
export function nearestOf(word: string, known: readonly string[]): string | undefined {
  const nearest = findNearest(word, { names: new Set(known), prefixes: new Set() })?.nearest;
  return nearest ?? known.find((other) => isBeginning(word, other) || isBeginning(other, word));
}

function isBeginning(start: string, word: string): boolean {
  return start.length >= beginningCharactersMin && word.startsWith(start);
}

function findNearest(name: string, { names, prefixes }: KnownNames): MisspeltVariable | undefined {
  let nearest: string | undefined;
  let fewestEdits = Number.POSITIVE_INFINITY;
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
  for (const prefix of prefixes) compare(name.slice(0, prefix.length), prefix, `${prefix}…`);
  // A setting for all with the name of one, such as SUBGRAPH_TIMEOUT_MS_POSTS.
  nearest ??= [...names].find(
    (known) => known.length >= variableBeginningCharactersMin && name.startsWith(`${known}_`),
  );
  return nearest === undefined ? undefined : { name, nearest };
}

function countEdits(a: string, b: string): number {
  // A cell has the distance between the first `row` characters of `a` and the first `column` of `b`.
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

function cellAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
