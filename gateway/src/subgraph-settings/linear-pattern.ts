// Regular expressions of gateway.yaml, for header names that clients choose. They take time in proportion to the length of the name, as in Apollo Router:
// V8's own engine takes minutes for `^x-([a-z]+-?)+$` and a name of 30 characters.
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import { RE2JS } from "re2js";

export interface LinearPattern {
  test(name: string): boolean;
}

/** Most requests have the same names. A match takes 3 µs. */
const knownNamesMax = 1_000;
const knownCharactersMax = 100;

/** @param source in the syntax of RE2: without back-references and look-around. @throws Error */
export function createLinearPattern(source: string): LinearPattern {
  const pattern = RE2JS.compile(source);
  const known = createBoundedMap<boolean>({ entriesMax: knownNamesMax });
  return {
    test(name) {
      const before = known.get(name);
      if (before !== undefined) return before;
      const matches = pattern.matcher(name).find();
      if (name.length <= knownCharactersMax) known.set(name, matches);
      return matches;
    },
  };
}
