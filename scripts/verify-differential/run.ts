import type { SupergraphCase } from "../../gateway/test/differential/supergraph-case.ts";
import { supergraphCases } from "../../gateway/test/differential/cases.ts";
import {
  type Compare,
  comparePaths,
  compareStock,
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
  readonly differences: readonly Difference[];
  readonly tookMs: number;
}

/** Runs the cases one after the other. Differences are printed when they are found. */
export async function runCases(
  options: DifferentialOptions,
  print: (line: string) => void,
): Promise<readonly CaseOutcome[]> {
  const selected = supergraphCases.filter(({ name }) => name.includes(options.animal));
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
  const compare: Compare = (...about) => {
    comparedCount++;
    return (control ? compareStock : comparePaths)(...about);
  };
  const live = await startCase(testCase);
  const differences: Difference[] = [];
  try {
    for (const aliases of ["plain", "colliding"] as const) {
      const difference = await findDifference(testCase, live, {
        operationCount,
        seed,
        aliases,
        compare,
        shrink: !control,
      });
      if (difference) differences.push(difference);
    }
  } finally {
    await live.close();
  }
  return { name: testCase.name, comparedCount, differences, tookMs: performance.now() - startedMs };
}
