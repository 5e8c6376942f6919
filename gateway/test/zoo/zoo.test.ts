import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Animal, Case, Expected } from "./animal.ts";
import { animals } from "./animals.ts";
import { findDifference } from "./differential.ts";
import type { Aliases } from "./generate-operations.ts";
import { type LiveAnimal, startAnimal } from "./start-animal.ts";

const operationCount = 20;
const seed = 20_261;

describe.each(animals)("$name", (animal) => {
  let live: LiveAnimal;
  beforeAll(async () => void (live = await startAnimal(animal)));
  afterAll(() => live.close());

  test.each(animal.cases)("$name", async (example) => {
    expect(await live.askMonolith(example)).toEqual(example.expected.data);
    const answer = comparable(await live.ask(example), example);
    const expected = comparable(example.expected, example);
    expect(answer).toEqual(expected);
  });

  test.each(["plain", "colliding"] as const)("generated operations with %s aliases", async (aliases) => {
    expect(await difference(live, animal, aliases)).toBeUndefined();
  });
});

function difference(live: LiveAnimal, animal: Animal, aliases: Aliases) {
  return findDifference(live, { operationCount, seed, aliases, argumentValues: animal.argumentValues });
}

/** Errors in one order; codes count where the case names one. */
function comparable({ data, errors = [] }: Expected, { expected }: Pick<Case, "expected">) {
  const named = new Set(expected.errors?.flatMap(({ path, code }) => (code === undefined ? [] : [String(path)])));
  const told = errors.map(({ path, code }) => (named.has(String(path)) ? { path, code } : { path }));
  return { data, errors: told.sort((one, other) => (String(one.path) < String(other.path) ? -1 : 1)) };
}
