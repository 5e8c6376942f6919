// What the results of the suite mean, and how they differ from the known failures.
import type { KnownFailure } from "./known-failures.ts";
import type { SuiteResults, SuiteTest } from "./suite.ts";

/**
 * `setup`: the requests that prepare the test did not succeed. `dependency`: a test on which it depends did not pass, so its result has no
 * meaning. `not-run`: the test has no result.
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

const kinds = ["required", "optimal", "check"] as const;
const counted = ["pass", "fail", "setup", "dependency"] as const;

/** The number of tests of each kind with each outcome: the lines of a table. */
export function toTable(tests: readonly SuiteTest[], results: SuiteResults): readonly string[] {
  const outcomes = toOutcomes(tests, results);
  const rows = kinds.map((kind) => {
    const ofKind = tests.filter((test) => test.kind === kind).map(({ id }) => outcomes.get(id));
    return [kind, ...counted.map((outcome) => ofKind.filter((one) => one === outcome).length)];
  });
  return [["", ...counted], ...rows].map((row) => row.map((cell) => String(cell).padStart(11)).join(""));
}

/**
 * Unknown failures, and known failures that do not fail: one line each. Tests whose dependency did not pass are no failures.
 * @returns an empty list if each failure is known, and every known failure still fails.
 */
export function findChanges(
  tests: readonly SuiteTest[],
  results: SuiteResults,
  known: readonly KnownFailure[],
): readonly string[] {
  const outcomes = toOutcomes(tests, results);
  const ids = known.flatMap((failure) => failure.ids);
  const isBad = (id: string) => outcomes.get(id) === "fail" || outcomes.get(id) === "setup";
  const unknownFailures = tests.filter(({ id }) => isBad(id) && !ids.includes(id));
  return [
    ...unknownFailures.map(({ id, name }) => `${id} fails: ${describeResult(results[id])} (${name})`),
    ...ids
      .filter((id) => !isBad(id))
      .map((id) => `${id} is listed as a known failure, but its outcome is ${outcomes.get(id)}`),
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id} is listed twice as a known failure`),
  ];
}

export function describeResult(result: SuiteResults[string] | undefined): string {
  if (result === undefined) return "the suite has no such test";
  return result === true ? "passes" : `${result[0]}: ${result[1]}`;
}
