import type { KnownFailure } from "./known-failures.ts";
import { type Outcome, toOutcomes } from "./outcomes.ts";
import type { SuiteResults, SuiteTest } from "./suite.ts";

const kinds = ["required", "optimal", "check"] as const;
const counted = ["pass", "fail", "setup", "dependency"] as const;

/**
 * Prints the counts, what is known to fail and why, and what has changed.
 * @returns whether nothing has: each failure is known, and all that is known to fail still does.
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
    const own = tests.filter((test) => test.kind === kind).map(({ id }) => outcomes.get(id));
    const counts = counted.map((outcome) => own.filter((one) => one === outcome).length);
    print([kind, ...counts].map((cell) => String(cell).padStart(11)).join(""));
  }
  print("");
  for (const { ids, reason } of known) print(`${String(ids.length).padStart(4)}  ${reason}`);
  const faults = findChanges(tests, outcomes, known, results);
  print("");
  for (const fault of faults) print(`FAIL  ${fault}`);
  if (faults.length === 0) print("ok    nothing fails but what is known, and all of that still does");
  return faults.length === 0;
}

/** What fails without being known to, and what is known to fail and does not. What hangs on another failure follows from that. */
function findChanges(
  tests: readonly SuiteTest[],
  outcomes: ReadonlyMap<string, Outcome>,
  known: readonly KnownFailure[],
  results: SuiteResults,
): readonly string[] {
  const ids = known.flatMap((one) => one.ids);
  const isBad = (id: string) => outcomes.get(id) === "fail" || outcomes.get(id) === "setup";
  const surprises = tests.filter(({ id }) => isBad(id) && !ids.includes(id));
  return [
    ...surprises.map(({ id, name }) => `${id} fails: ${wordsOf(results[id])} (${name})`),
    ...ids.filter((id) => !isBad(id)).map((id) => `${id} is known to fail and comes to ${outcomes.get(id)}`),
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id} is known to fail twice`),
  ];
}

/** @returns whether it passed. */
export function reportOne(results: SuiteResults, id: string, print: (line: string) => void): boolean {
  const result = results[id];
  print(result === undefined ? `There is no test ${id}.` : `${id}: ${wordsOf(result)}`);
  return result === true;
}

function wordsOf(result: SuiteResults[string] | undefined): string {
  return result === true || result === undefined ? "passes" : `${result[0]}: ${result[1]}`;
}
