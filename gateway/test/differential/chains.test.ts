import { expect, test } from "vitest";
import { type Compare, comparePaths, compareApolloGateway, findDifference } from "./differential.ts";
import { generateChains } from "./generate-chains.ts";
import { startCase } from "./start-case.ts";

test.each([3, 6, 7])("generated chains of @requires have the result of one schema: %i", async (seed) => {
  expect(await differenceOf(seed, comparePaths)).toBeUndefined();
});

test("stock fetches fields of such chains before the fields that they require", async () => {
  expect(await differenceOf(6, compareApolloGateway)).toMatchObject({ what: "data of stock" });
});

async function differenceOf(seed: number, compare: Compare) {
  const supergraphCase = generateChains(seed);
  const live = await startCase(supergraphCase);
  try {
    return await findDifference(supergraphCase, live, {
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
