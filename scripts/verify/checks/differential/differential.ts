// Sends generated operations through both paths of the gateway, and compares the results with those of one schema without subgraphs.
import { supergraphCases } from "../../../../gateway/test/differential/cases.ts";
import {
  type Compare,
  compareApolloGateway,
  comparePaths,
  type Difference,
  findDifference,
} from "../../../../gateway/test/differential/differential.ts";
import { startCase } from "../../../../gateway/test/differential/start-case.ts";
import type { SupergraphCase } from "../../../../gateway/test/differential/supergraph-case.ts";
import { defineVerification } from "../../verification.ts";

/** Each case runs once for each kind. Colliding aliases have the names of other fields. */
const aliasKinds = ["plain", "colliding"] as const;

export const differential = defineVerification({
  name: "differential",
  summary:
    "generated operations have the same result through both paths of the gateway and on one schema without subgraphs",
  description: `Sends generated operations to every test supergraph (gateway/test/differential) through the gateway's full path and fast path. Both must
return the data of one schema without subgraphs, errors for the same nulls, and the same bytes. Every document that the gateway sends must be
valid against the schema of the subgraph that receives it. A difference is printed as JSON, with the smallest operation that shows it.`,
  options: {
    operations: {
      kind: "number",
      fallback: 20_000,
      quick: 1_000,
      why: "in total, distributed evenly over the cases; half with plain aliases, half with aliases that collide with other fields",
    },
    seed: {
      kind: "number",
      fallback: 20_261,
      why: "the same seed generates the same operations",
    },
    case: { kind: "text", placeholder: "NAME", why: "only cases whose names contain NAME" },
  },
  // With `--control`, instead of the repository's gateway: the claims about single cases are then printed, and not judged.
  control: "tests an unmodified Apollo Gateway, whose data differs for some operations",
  async run({ options, isControl, print, claim }) {
    const { operations, seed, case: namePart = "" } = options;
    const cases = supergraphCases.filter(({ name }) => name.includes(namePart));
    if (cases.length === 0) throw new Error(`No case has a name that contains ${namePart}.`);
    const perKind = Math.ceil(operations / cases.length / aliasKinds.length);
    let differenceCount = 0;
    for (const testCase of cases) {
      let comparedCount = 0;
      const compare: Compare = (supergraphCase, running, operation) => {
        comparedCount++;
        return (isControl ? compareApolloGateway : comparePaths)(supergraphCase, running, operation);
      };
      // The control only needs a difference, not the smallest operation that shows it.
      const search = { operationCount: perKind, seed, compare, shrink: !isControl };
      const differences = await findDifferences(testCase, search);
      for (const difference of differences) print(JSON.stringify({ case: testCase.name, ...difference }));
      differenceCount += differences.length;
      claim(`${testCase.name}: no result differs`, comparedCount > 0 && differences.length === 0, {
        measured: `${comparedCount.toLocaleString("en")} operations, differences: ${differences.map(({ what }) => what).join(", ") || "none"}`,
      });
    }
    if (isControl) claim("some results of Apollo Gateway differ", differenceCount > 0, { control: "holds" });
  },
});

type Search = Omit<Parameters<typeof findDifference>[2], "aliases">;

/** At most one for each kind of aliases: the search ends at the first. */
async function findDifferences(testCase: SupergraphCase, search: Search): Promise<readonly Difference[]> {
  const running = await startCase(testCase);
  const differences: Difference[] = [];
  try {
    for (const aliases of aliasKinds) {
      const difference = await findDifference(testCase, running, { ...search, aliases });
      if (difference) differences.push(difference);
    }
  } finally {
    await running.close();
  }
  return differences;
}
