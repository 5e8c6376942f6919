import type { KnownFailure } from "./known-failures.ts";
import { type SuiteTestOutcome, toOutcomes } from "./outcomes.ts";
import type { SuiteResults, SuiteTest } from "./suite.ts";

const kinds = ["required", "optimal", "check"] as const;
const counted = ["pass", "fail", "setup", "dependency"] as const;

/**
 * Prints the counts, the known failures with their reasons, and the differences from them.
 * @returns whether there are no differences: each failure is known, and every known failure still fails.
 */
export function report(
  tests: readonly SuiteTest[],
  results: SuiteResults,
  known: readonly KnownFailure[],
  print: (line: string) => void,
): boolean {
  const outcomes = toOutcomes(tests, results);
  print(["", ...counted].map((word) => word.padStart(11)).join(""));
  for (const kind of kinds) {
    const outcomesOfKind = tests.filter((test) => test.kind === kind).map(({ id }) => outcomes.get(id));
    const counts = counted.map((outcome) => outcomesOfKind.filter((one) => one === outcome).length);
    print([kind, ...counts].map((cell) => String(cell).padStart(11)).join(""));
  }
  print("");
  for (const { ids, reason } of known) print(`${String(ids.length).padStart(4)}  ${reason}`);
  const faults = findChanges(tests, outcomes, known, results);
  print("");
  for (const fault of faults) print(`FAIL  ${fault}`);
  if (faults.length === 0) print("ok    only known failures fail, and all of them still fail");
  return faults.length === 0;
}

/** Unknown failures, and known failures that do not fail. Tests that were not counted because of a dependency are ignored. */
function findChanges(
  tests: readonly SuiteTest[],
  outcomes: ReadonlyMap<string, SuiteTestOutcome>,
  known: readonly KnownFailure[],
  results: SuiteResults,
): readonly string[] {
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

/** @returns whether it passed. */
export function reportOne(results: SuiteResults, id: string, print: (line: string) => void): boolean {
  const result = results[id];
  print(result === undefined ? `The suite has no test ${id}.` : `${id}: ${describeResult(result)}`);
  return result === true;
}

function describeResult(result: SuiteResults[string] | undefined): string {
  return result === true || result === undefined ? "passes" : `${result[0]}: ${result[1]}`;
}
