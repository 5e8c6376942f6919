import type { SuiteResults, SuiteTest } from "./suite.ts";

/**
 * `setup`: the requests that prepare the test did not succeed. `dependency`: a test on which it depends did not pass, so its result has no
 * meaning. `not-run`: the test is for browsers.
 */
export type SuiteTestOutcome = "pass" | "fail" | "setup" | "dependency" | "not-run";

/** The outcome of each test by id, as the suite defines it. */
export function toOutcomes(tests: readonly SuiteTest[], results: SuiteResults): ReadonlyMap<string, SuiteTestOutcome> {
  const byId = new Map(tests.map((test) => [test.id, test]));
  const outcomes = new Map<string, SuiteTestOutcome>();

  function outcomeOf(id: string): SuiteTestOutcome {
    const known = outcomes.get(id);
    if (known) return known;
    const outcome = determine(byId.get(id), results[id]);
    outcomes.set(id, outcome);
    return outcome;
  }

  function determine(test: SuiteTest | undefined, result: SuiteResults[string] | undefined): SuiteTestOutcome {
    if (!test || result === undefined) return "not-run";
    if (test.dependsOn.some((id) => outcomeOf(id) !== "pass")) return "dependency";
    if (result === true) return "pass";
    return result[0] === "Setup" ? "setup" : "fail";
  }

  for (const { id } of tests) outcomeOf(id);
  return outcomes;
}
