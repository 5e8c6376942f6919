// Stage 4 of 5: fetch it. What follows from values that several requests share is worked out once. Nothing more is shared by it: whoever has
// the same answers has read them himself.

export interface Derivations {
  /**
   * What `make` gives, or gave before for the same objects and by the same rule. It must follow from them alone. Forgotten with the first of
   * the objects.
   */
  derive<Value>(from: readonly [object, ...object[]], by: object, make: () => Value): Value;
}

interface Derivation {
  readonly from: readonly object[];
  readonly by: object;
  readonly value: unknown;
}

export function createDerivations(): Derivations {
  const known = new WeakMap<object, Derivation[]>();
  return {
    derive(from, by, make) {
      const [first] = from;
      const derivations = known.get(first) ?? [];
      const same = derivations.find((derivation) => derivation.by === by && areSame(derivation.from, from));
      if (same) return same.value as ReturnType<typeof make>;
      const value = make();
      derivations.push({ from, by, value });
      known.set(first, derivations);
      return value;
    },
  };
}

function areSame(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((value, i) => value === other[i]);
}
