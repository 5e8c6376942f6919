import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CaseExample, ExpectedResult } from "./supergraph-case.ts";
import { supergraphCases } from "./cases.ts";
import { comparePaths, compareApolloGateway, findDifference, listNullPaths } from "./differential.ts";
import type { Aliases } from "./generate-selections.ts";
import { type RunningCase, startCase } from "./start-case.ts";

/** For each case and kind of alias. `npm run verify:differential` sends 20,000. */
const operationCount = 40;
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
    const difference = await findDifference(supergraphCase, live, {
      operationCount,
      seed,
      aliases,
      compare: comparePaths,
    });
    expect(difference).toBeUndefined();
  });

  describe("the control", () => {
    const sent = supergraphCase.cases.filter(({ stockIsSkipped }) => stockIsSkipped === undefined);
    test.each(sent)("stock: $name", async ({ stockIsWrong, expected, ...operation }) => {
      const result = await live.sendToStock(operation);
      if (stockIsWrong === undefined) expect(result.data).toEqual(expected.data);
      else expect(nullsOf(result)).not.toEqual(nullsOf(expected));
    });

    test.each(Object.keys(supergraphCase.stockDiffers ?? {}) as Aliases[])(
      "stock differs with %s aliases",
      async (aliases) => {
        const about = {
          operationCount: stockOperationCount,
          seed,
          aliases,
          compare: compareApolloGateway,
          shrink: false,
        };
        expect(await findDifference(supergraphCase, live, about)).toBeDefined();
      },
    );
  });
});

function nullsOf(result: ExpectedResult) {
  return { data: result.data, nullPaths: listNullPaths(result) };
}

/** Sorts the errors. Codes are compared only if the example has one. */
function comparable({ data, errors = [] }: ExpectedResult, { expected }: Pick<CaseExample, "expected">) {
  const named = new Set(expected.errors?.flatMap(({ path, code }) => (code === undefined ? [] : [String(path)])));
  const sorted = errors.map(({ path, code }) => (named.has(String(path)) ? { path, code } : { path }));
  return { data, errors: sorted.sort((one, other) => (String(one.path) < String(other.path) ? -1 : 1)) };
}
