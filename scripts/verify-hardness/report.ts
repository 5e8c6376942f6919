import type { ResilienceCheck, Finding } from "./check.ts";

export interface CheckOutcome {
  readonly check: ResilienceCheck;
  readonly findings: readonly Finding[];
  /** The check or one of its cleanups threw, so the findings may be incomplete: it has failed, also with `--control`. */
  readonly hasCrashed: boolean;
}

type Print = (line: string) => void;

/** Longer texts, such as wrong responses, are truncated. */
const measuredCharsMax = 400;

export function reportFinding({ claim, passed, measured }: Finding, print: Print): void {
  print(`  ${passed ? "ok  " : "FAIL"}  ${claim}: ${measured.slice(0, measuredCharsMax)}`);
}

/** Prints the last line; with `control`, one line per check before it. @returns whether all checks passed; with `control`, whether each check with `apolloFails` found a fault. */
export function reportAll(outcomes: readonly CheckOutcome[], control: boolean, print: Print): boolean {
  const isAsExpected = control ? foundExpectedFault : (outcome: CheckOutcome) => failuresOf(outcome) === 0;
  const failedChecks = outcomes.filter((outcome) => outcome.hasCrashed || !isAsExpected(outcome));
  if (control) for (const outcome of outcomes) print(describeControl(outcome));
  const names = failedChecks.map(({ check }) => check.name).join(", ");
  print(
    `${outcomes.length - failedChecks.length} passed, ${failedChecks.length} failed${failedChecks.length > 0 ? `: ${names}` : ""}`,
  );
  return failedChecks.length === 0;
}

function failuresOf({ findings }: CheckOutcome): number {
  return findings.filter(({ passed }) => !passed).length;
}

function foundExpectedFault(outcome: CheckOutcome): boolean {
  return !outcome.check.apolloFails || failuresOf(outcome) > 0;
}

function describeControl(outcome: CheckOutcome): string {
  const { check, findings } = outcome;
  if (outcome.hasCrashed) return `FAIL  ${check.name}: did not complete`;
  const result = `${failuresOf(outcome)} of ${findings.length} claims do not hold for Apollo Gateway`;
  const verdict = !check.apolloFails ? "    " : foundExpectedFault(outcome) ? "ok  " : "FAIL";
  return `${verdict}  ${check.name}: ${result}${check.apolloFails ? "" : ", none must fail"}`;
}
