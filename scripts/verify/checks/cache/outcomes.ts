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
  const testsById = new Map(tests.map((test) => [test.id, test]));
  const outcomes = new Map<string, SuiteTestOutcome>();

  function outcomeOf(id: string): SuiteTestOutcome {
    const determined = outcomes.get(id);
    if (determined) return determined;
    const outcome = determineOutcome(testsById.get(id), results[id]);
    outcomes.set(id, outcome);
    return outcome;
  }

  function determineOutcome(test: SuiteTest | undefined, result: SuiteResults[string] | undefined): SuiteTestOutcome {
    if (!test || result === undefined) return "not-run";
    if (test.dependsOn.some((id) => outcomeOf(id) !== "pass")) return "dependency";
    if (result === true) return "pass";
    const [failureKind] = result;
    return failureKind === "Setup" ? "setup" : "fail";
  }

  for (const { id } of tests) outcomeOf(id);
  return outcomes;
}

const kinds = ["required", "optimal", "check"] as const;
const countedOutcomes = ["pass", "fail", "setup", "dependency"] as const;
const columnChars = 11;

/** The number of tests of each kind with each outcome: the lines of a table. */
export function toTable(tests: readonly SuiteTest[], results: SuiteResults): readonly string[] {
  const outcomes = toOutcomes(tests, results);
  const countTests = (kind: SuiteTest["kind"], outcome: SuiteTestOutcome) =>
    tests.filter((test) => test.kind === kind && outcomes.get(test.id) === outcome).length;
  const rows = kinds.map((kind) => [kind, ...countedOutcomes.map((outcome) => countTests(kind, outcome))]);
  return [["", ...countedOutcomes], ...rows].map((row) =>
    row.map((cell) => String(cell).padStart(columnChars)).join(""),
  );
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
  const knownIds = known.flatMap(({ ids }) => ids);
  const isFailure = (id: string) => outcomes.get(id) === "fail" || outcomes.get(id) === "setup";
  const unknownFailures = tests.filter(({ id }) => isFailure(id) && !knownIds.includes(id));
  const noFailures = knownIds.filter((id) => !isFailure(id));
  const repeatedIds = knownIds.filter((id, index) => knownIds.indexOf(id) !== index);
  return [
    ...unknownFailures.map(({ id, name }) => `${id} fails: ${describeResult(results[id])} (${name})`),
    ...noFailures.map((id) => `${id} is listed as a known failure, but its outcome is ${outcomes.get(id)}`),
    ...repeatedIds.map((id) => `${id} is listed twice as a known failure`),
  ];
}

export function describeResult(result: SuiteResults[string] | undefined): string {
  if (result === undefined) return "no result: the suite has no such test, or did not run it";
  if (result === true) return "passes";
  const [failureKind, message] = result;
  return `${failureKind}: ${message}`;
}
