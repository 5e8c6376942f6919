import { expect, test } from "vitest";
import { type Compare, compareLanes, compareStock, findDifference } from "./differential.ts";
import { generateChains } from "./generate-chains.ts";
import { startAnimal } from "./start-case.ts";

test.each([3, 6, 7])("chains of requirements made by chance are answered as one schema answers: %i", async (seed) => {
  expect(await differenceOf(seed, compareLanes)).toBeUndefined();
});

test("stock asks fields of such chains before what they require", async () => {
  expect(await differenceOf(6, compareStock)).toMatchObject({ what: "data of stock" });
});

async function differenceOf(seed: number, compare: Compare) {
  const animal = generateChains(seed);
  const live = await startAnimal(animal);
  try {
    return await findDifference(animal, live, {
      operationCount: 10,
      seed,
      aliases: "colliding",
      compare,
      shrink: false,
    });
  } finally {
    await live.close();
  }
}
