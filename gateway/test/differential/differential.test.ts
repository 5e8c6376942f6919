import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Case, Expected } from "./supergraph-case.ts";
import { animals } from "./cases.ts";
import { compareLanes, compareStock, findDifference, listLostPlaces } from "./differential.ts";
import type { Aliases } from "./generate-selections.ts";
import { type LiveAnimal, startAnimal } from "./start-case.ts";

/** Of each kind for each animal. `npm run verify:differential` asks 20,000. */
const operationCount = 40;
/** Stock is asked until it is wrong once. */
const stockOperationCount = 200;
const seed = 20_261;

describe.each(animals)("$name", (animal) => {
  let live: LiveAnimal;
  beforeAll(async () => void (live = await startAnimal(animal)));
  afterAll(() => live.close());

  test.each(animal.cases)("$name", async (example) => {
    const { data } = await live.askMonolith(example);
    expect(data).toEqual(example.expected.data);
    const full = await live.ask(example, "full");
    expect(comparable(full, example)).toEqual(comparable(example.expected, example));
    expect(await live.ask(example, "fast")).toEqual({ ...full, lane: "fast" });
  });

  test.each(["plain", "colliding"] as const)("generated operations with %s aliases", async (aliases) => {
    const difference = await findDifference(animal, live, { operationCount, seed, aliases, compare: compareLanes });
    expect(difference).toBeUndefined();
  });

  describe("the control", () => {
    const asked = animal.cases.filter(({ stockIsNotAsked }) => stockIsNotAsked === undefined);
    test.each(asked)("stock: $name", async ({ stockIsWrong, expected, ...operation }) => {
      const answer = await live.askStock(operation);
      if (stockIsWrong === undefined) expect(answer.data).toEqual(expected.data);
      else expect(lossesOf(answer)).not.toEqual(lossesOf(expected));
    });

    test.each(Object.keys(animal.stockDiffers ?? {}) as Aliases[])("stock differs with %s aliases", async (aliases) => {
      const about = { operationCount: stockOperationCount, seed, aliases, compare: compareStock, shrink: false };
      expect(await findDifference(animal, live, about)).toBeDefined();
    });
  });
});

function lossesOf(answer: Expected) {
  return { data: answer.data, lost: listLostPlaces(answer) };
}

/** Errors in one order; codes count where the case names one. */
function comparable({ data, errors = [] }: Expected, { expected }: Pick<Case, "expected">) {
  const named = new Set(expected.errors?.flatMap(({ path, code }) => (code === undefined ? [] : [String(path)])));
  const told = errors.map(({ path, code }) => (named.has(String(path)) ? { path, code } : { path }));
  return { data, errors: told.sort((one, other) => (String(one.path) < String(other.path) ? -1 : 1)) };
}
