import type { SuiteResults, SuiteTest } from "./suite.ts";

/**
 * `setup`: the test could not be made to ask its question. `dependency`: another test that it builds on did not pass, so whatever came of it says
 * nothing. `not-run`: it is for browsers.
 */
export type Outcome = "pass" | "fail" | "setup" | "dependency" | "not-run";

/** What each test comes to, by id: as the suite itself tells it. */
export function toOutcomes(tests: readonly SuiteTest[], results: SuiteResults): ReadonlyMap<string, Outcome> {
  const byId = new Map(tests.map((test) => [test.id, test]));
  const outcomes = new Map<string, Outcome>();

  function outcomeOf(id: string): Outcome {
    const known = outcomes.get(id);
    if (known) return known;
    const outcome = settle(byId.get(id), results[id]);
    outcomes.set(id, outcome);
    return outcome;
  }

  function settle(test: SuiteTest | undefined, result: SuiteResults[string] | undefined): Outcome {
    if (!test || result === undefined) return "not-run";
    if (test.dependsOn.some((id) => outcomeOf(id) !== "pass")) return "dependency";
    if (result === true) return "pass";
    return result[0] === "Setup" ? "setup" : "fail";
  }

  for (const { id } of tests) outcomeOf(id);
  return outcomes;
}
