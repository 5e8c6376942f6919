import { createBoundedMap } from "../../collections/bounded-map.ts";

/** The label of a value that a client chooses: itself for a known value, `other`, or `unnamed` for none. */
export type KnownValues = (value: string | undefined) => string;

/** Every value that `createKnownValues` gives a label. `other` and `unnamed` come first, so that they have zeros if the values are too many. */
export function listKnownValues(known: Iterable<string>): readonly string[] {
  return [...new Set(["other", "unnamed", ...known])];
}

/** @param known from configuration or schema, so that the number of labels is bounded. */
export function createKnownValues(known: Iterable<string>): KnownValues {
  return labelsFrom(createNames(known));
}

/** Labels that a process learns from what clients send. */
export interface LearnedValues {
  /** Returns the label without counting an occurrence: for values of requests that were rejected. */
  readonly find: KnownValues;
  /** Counts one occurrence, and returns the label: `other` until the value has occurred more than `occurrencesMin` times. */
  readonly count: KnownValues;
}

export interface LearnedValuesOptions {
  /** Values that have a label from the start; at most `valuesMax`. */
  readonly known: readonly string[];
  /** Labels beside `other` and `unnamed`. */
  readonly valuesMax: number;
  /** Occurrences that count as `other` before a value has its own label. */
  readonly occurrencesMin: number;
}

/** Values without a label that are counted at once. The least recently seen one is evicted. */
const candidatesMax = 1_000;
/** A longer value is never a label. */
const labelCharactersMax = 100;

/** A value never loses its label: a client that sends many values cannot take the label of another, only use up the remaining ones. */
export function createLearnedValues({ known, valuesMax, occurrencesMin }: LearnedValuesOptions): LearnedValues {
  const names = createNames(known);
  const candidates = createBoundedMap<Candidate>({ entriesMax: candidatesMax });

  function countCandidate(value: string): string {
    const candidate = candidates.get(value);
    if (candidate === undefined) {
      const name = copyOf(value);
      candidates.set(name, { name, occurrences: 1 });
      return "other";
    }
    candidate.occurrences++;
    if (candidate.occurrences <= occurrencesMin) return "other";
    names.set(candidate.name, candidate.name);
    candidates.delete(candidate.name);
    // No further value can get a label.
    if (names.size >= valuesMax) candidates.clear();
    return candidate.name;
  }

  return {
    find: labelsFrom(names),
    count(value) {
      if (value === undefined || value === "") return "unnamed";
      const label = names.get(value);
      if (label !== undefined) return label;
      const mayBecomeLabel = names.size < valuesMax && value.length <= labelCharactersMax;
      return mayBecomeLabel ? countCandidate(value) : "other";
    },
  };
}

interface Candidate {
  readonly name: string;
  occurrences: number;
}

type Names = Map<string, string>;

/** Maps a client's string to the equal known string: V8 has the hash of the known one already, and no client's string is retained. */
function createNames(known: Iterable<string>): Names {
  return new Map(Array.from(known, (name) => [name, name]));
}

function labelsFrom(names: Names): KnownValues {
  return (value) => {
    if (value === undefined || value === "") return "unnamed";
    return names.get(value) ?? "other";
  };
}

/** An equal string with its own memory. A name from a parsed document is a slice, which retains the document's whole text in V8. */
function copyOf(value: string): string {
  return Buffer.from(value).toString();
}
