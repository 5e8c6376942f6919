// Runs the cases of gateway/test/differential.
import type { SupergraphCase } from "../../gateway/test/differential/supergraph-case.ts";
import { supergraphCases } from "../../gateway/test/differential/cases.ts";
import {
  type Compare,
  comparePaths,
  compareApolloGateway,
  type Difference,
  findDifference,
} from "../../gateway/test/differential/differential.ts";
import { startCase } from "../../gateway/test/differential/start-case.ts";
import type { DifferentialOptions } from "./options.ts";

/** The result of one case. */
export interface CaseOutcome {
  readonly name: string;
  /** The number of compared operations, including those that were tried to find a smaller one. */
  readonly comparedCount: number;
  /** At most one for each kind of aliases. */
  readonly differences: readonly Difference[];
  readonly tookMs: number;
}

/**
 * Runs the selected cases one after the other. At most two differences are found per case, one with each kind of aliases: the search ends at the
 * first. They are printed when the case ends.
 */
export async function runCases(
  options: DifferentialOptions,
  print: (line: string) => void,
): Promise<readonly CaseOutcome[]> {
  const selected = supergraphCases.filter(({ name }) => name.includes(options.case));
  const operationCount = Math.ceil(options.operations / selected.length / 2);
  const outcomes: CaseOutcome[] = [];
  for (const testCase of selected) {
    const outcome = await runCase(testCase, operationCount, options);
    outcomes.push(outcome);
    for (const difference of outcome.differences) print(JSON.stringify({ case: testCase.name, ...difference }));
    print(`${testCase.name}: ${outcome.differences.length > 0 ? "DIFFERENT" : "equal"}`);
  }
  return outcomes;
}

async function runCase(
  testCase: SupergraphCase,
  operationCount: number,
  { seed, control }: DifferentialOptions,
): Promise<CaseOutcome> {
  const startedMs = performance.now();
  let comparedCount = 0;
  const countAndCompare: Compare = (...comparison) => {
    comparedCount++;
    return (control ? compareApolloGateway : comparePaths)(...comparison);
  };
  const live = await startCase(testCase);
  const differences: Difference[] = [];
  try {
    for (const aliases of ["plain", "colliding"] as const) {
      const difference = await findDifference(testCase, live, {
        operationCount,
        seed,
        aliases,
        compare: countAndCompare,
        // The control only needs a difference, not the smallest operation that shows it.
        shrink: !control,
      });
      if (difference) differences.push(difference);
    }
  } finally {
    await live.close();
  }
  return { name: testCase.name, comparedCount, differences, tookMs: performance.now() - startedMs };
}
