// Stage 4 of 5: fetch it. What follows from values that several requests share is worked out once. Nothing more is shared by it: whoever has
// the same answers has asked for them himself.

/** A value that others may be derived from. */
export interface Source {
  /** What was derived from it, and from others besides; forgotten with it. A WeakMap beside it costs more in collection than it saves. */
  derived?: Derivation[] | undefined;
}

interface Derivation {
  readonly from: readonly Source[];
  readonly by: object;
  readonly value: unknown;
}

/** What `make` gives, or gave before for the same values and by the same rule. It must follow from them alone. */
export function derive<Value>(from: readonly [Source, ...Source[]], by: object, make: () => Value): Value {
  const [first] = from;
  const same = first.derived?.find((derivation) => derivation.by === by && areSame(derivation.from, from));
  if (same) return same.value as Value;
  const value = make();
  (first.derived ??= []).push({ from, by, value });
  return value;
}

function areSame(one: readonly Source[], other: readonly Source[]): boolean {
  return one.length === other.length && one.every((value, i) => value === other[i]);
}
