import { sampleSize } from "@tributary/kit/testing/sample-size";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CaseExample, ComparableResult } from "./supergraph-case.ts";
import { supergraphCases } from "./cases.ts";
import { type Compare, compareApolloGateway, comparePaths, findDifference, listNullPaths } from "./differential.ts";
import { generateChains } from "./generate-chains.ts";
import { type RunningCase, startCase } from "./start-case.ts";

/** For each case and kind of alias; all of them are more than 20,000. */
const operationCount = sampleSize(4, 200);
/** Sent to stock until one result is wrong. */
const stockOperationCount = 200;
const seed = 20_261;

describe.each(supergraphCases)("$name", (supergraphCase) => {
  let live: RunningCase;
  beforeAll(async () => void (live = await startCase(supergraphCase)));
  afterAll(() => live.close());

  test.each(supergraphCase.cases)("$name", async (example) => {
    const { data } = await live.executeOnMonolith(example);
    expect(data).toEqual(example.expected.data);
    const full = await live.sendToGateway(example, "full");
    expect(comparable(full, example)).toEqual(comparable(example.expected, example));
    expect(await live.sendToGateway(example, "fast")).toEqual({ ...full, path: "fast" });
  });

  test.each(["plain", "colliding"] as const)("generated operations with %s aliases", async (aliases) => {
    const about = { operationCount, seed, aliases, compare: comparePaths };
    expect(await findDifference(supergraphCase, live, about)).toBeUndefined();
  });

  // The control: results of stock that are wrong, so that the tests above are seen to find such results.
  const wrongExamples = supergraphCase.cases.filter(({ stockIsWrong }) => stockIsWrong !== undefined);
  test.each(wrongExamples)("stock: $name", async ({ expected, ...operation }) => {
    expect(nullsOf(await live.sendToStock(operation))).not.toEqual(nullsOf(expected));
  });

  if (supergraphCase.stockDiffers?.colliding !== undefined)
    test("stock differs with colliding aliases", async () => {
      const about = { seed, aliases: "colliding", compare: compareApolloGateway, shrink: false } as const;
      expect(
        await findDifference(supergraphCase, live, { ...about, operationCount: stockOperationCount }),
      ).toBeDefined();
    });
});

describe("generated chains of @requires", () => {
  test.each([6, 7])("have the result of one schema: seed %i", async (chainSeed) => {
    expect(await findDifferenceInChain(chainSeed, comparePaths)).toBeUndefined();
  });

  test("stock fetches fields of such chains before the fields that they require", async () => {
    expect(await findDifferenceInChain(6, compareApolloGateway)).toMatchObject({ what: "data of stock" });
  });

  async function findDifferenceInChain(chainSeed: number, compare: Compare) {
    const supergraphCase = generateChains(chainSeed);
    const live = await startCase(supergraphCase);
    const about = { operationCount: 10, seed: chainSeed, aliases: "colliding", compare, shrink: false } as const;
    try {
      return await findDifference(supergraphCase, live, about);
    } finally {
      await live.close();
    }
  }
});

function nullsOf(result: ComparableResult) {
  return { data: result.data, nullPaths: listNullPaths(result) };
}

/** Sorts the errors. Codes are compared only if the example has one. */
function comparable({ data, errors = [] }: ComparableResult, { expected }: Pick<CaseExample, "expected">) {
  const named = new Set(expected.errors?.flatMap(({ path, code }) => (code === undefined ? [] : [String(path)])));
  const sorted = errors.map(({ path, code }) => (named.has(String(path)) ? { path, code } : { path }));
  return { data, errors: sorted.sort((one, other) => (String(one.path) < String(other.path) ? -1 : 1)) };
}
