import { createBoundedMap } from "../../collections/bounded-map.ts";

/** Itself for a known value, `other`, or `unnamed` for none. */
export type KnownValues = (value: string | undefined) => string;

/** `other` and `unnamed` come first, so that they have zeros if the values are too many. */
export function listKnownValues(known: Iterable<string>): readonly string[] {
  return [...new Set(["other", "unnamed", ...known])];
}

/** @param known from configuration or schema, so that the number of labels is bounded. */
export function createKnownValues(known: Iterable<string>): KnownValues {
  // V8 has the hash of the known string already, and no client's string is retained.
  const names = new Map(Array.from(known, (name) => [name, name]));
  return (value) => (value === undefined || value === "" ? "unnamed" : (names.get(value) ?? "other"));
}

/** Labels that a process learns from clients, of bounded number, also per hour. */
export interface LearnedValues {
  /** Without counting an occurrence: for values of requests that were rejected. */
  readonly find: KnownValues;
  /** `other` until the value has occurred more than `occurrencesMin` times. */
  readonly count: KnownValues;
}

export interface LearnedValuesOptions {
  /** They never lose their label; at most `valuesMax`. */
  readonly known: readonly string[];
  /** Beside `other` and `unnamed`. */
  readonly valuesMax: number;
  readonly occurrencesMin: number;
  /** Its series must be removed, or their number would have no bound. */
  readonly onReleased: (value: string) => void;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

/** Counted at once. The least recently seen one is evicted. */
const candidatesMax = 1_000;
const labelCharactersMax = 100;
/** Then those of each value are halved, so that recent ones count most. */
const halvingInterval = 100_000;
/** Between two losses of a label: at most 60 new ones an hour, whose series Prometheus stores. */
const releaseIntervalMs = 60_000;

/** Beyond `valuesMax`, a value with more than twice the occurrences of the least frequent learned one takes its label. */
export function createLearnedValues(options: LearnedValuesOptions): LearnedValues {
  const { known, valuesMax, occurrencesMin, onReleased, now = () => performance.now() } = options;
  const labels = new Map<string, CountedValue>();
  for (const name of known) labels.set(name, { name, occurrences: 0, isConfigured: true });
  const candidates = createBoundedMap<CountedValue>({ entriesMax: candidatesMax });
  let untilHalving = halvingInterval;
  let nextReleaseMs = -Infinity;

  function countCandidate(value: string): string {
    const candidate = candidates.get(value);
    if (candidate === undefined) {
      const name = copyOf(value);
      candidates.set(name, { name, occurrences: 1, isConfigured: false });
      return "other";
    }
    candidate.occurrences++;
    const hasLabel = candidate.occurrences > occurrencesMin && ensureFreeLabel(candidate);
    if (!hasLabel) return "other";
    candidates.delete(candidate.name);
    labels.set(candidate.name, candidate);
    return candidate.name;
  }

  function ensureFreeLabel({ occurrences }: CountedValue): boolean {
    if (labels.size < valuesMax) return true;
    const nowMs = now();
    if (nowMs < nextReleaseMs) return false;
    const least = findLeastFrequent(labels.values());
    if (least === undefined || 2 * least.occurrences >= occurrences) return false;
    nextReleaseMs = nowMs + releaseIntervalMs;
    labels.delete(least.name);
    candidates.set(least.name, least);
    onReleased(least.name);
    return true;
  }

  function halve(): void {
    untilHalving = halvingInterval;
    for (const counted of labels.values()) counted.occurrences /= 2;
    for (const counted of candidates.values()) counted.occurrences /= 2;
  }

  return {
    find: (value) => (value === undefined || value === "" ? "unnamed" : (labels.get(value)?.name ?? "other")),
    count(value) {
      if (value === undefined || value === "") return "unnamed";
      // The collective labels, whose series must not be removed.
      if (value === "other" || value === "unnamed") return value;
      if (--untilHalving === 0) halve();
      const label = labels.get(value);
      if (label === undefined) return value.length > labelCharactersMax ? "other" : countCandidate(value);
      label.occurrences++;
      return label.name;
    },
  };
}

interface CountedValue {
  readonly name: string;
  occurrences: number;
  readonly isConfigured: boolean;
}

/** Undefined if all values are configured. */
function findLeastFrequent(values: Iterable<CountedValue>): CountedValue | undefined {
  let least: CountedValue | undefined;
  for (const value of values) {
    if (!value.isConfigured && (least === undefined || value.occurrences < least.occurrences)) least = value;
  }
  return least;
}

/** A name from a parsed document is a slice, which retains the document's whole text in V8. */
function copyOf(value: string): string {
  return Buffer.from(value).toString();
}
