import type { ResilienceCheck, Finding } from "./check.ts";

export interface CheckOutcome {
  readonly check: ResilienceCheck;
  readonly findings: readonly Finding[];
}

type Print = (line: string) => void;

/** Longer texts, such as wrong responses, are truncated. */
const measuredCharsMax = 400;

export function reportFinding({ claim, passed, measured }: Finding, print: Print): void {
  print(`  ${passed ? "ok  " : "FAIL"}  ${claim}: ${measured.slice(0, measuredCharsMax)}`);
}

/** Prints the last line. @returns whether all checks passed; with `control`, whether each check that Apollo Gateway must fail found a fault. */
export function reportAll(outcomes: readonly CheckOutcome[], control: boolean, print: Print): boolean {
  const passed = control ? controlPasses : ({ findings }: CheckOutcome) => findings.every(({ passed }) => passed);
  const failedChecks = outcomes.filter((outcome) => !passed(outcome));
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

function controlPasses(outcome: CheckOutcome): boolean {
  return !outcome.check.apolloFails || failuresOf(outcome) > 0;
}

function describeControl(outcome: CheckOutcome): string {
  const { check, findings } = outcome;
  const result = `${failuresOf(outcome)} of ${findings.length} claims do not hold for Apollo Gateway`;
  const verdict = !check.apolloFails ? "    " : controlPasses(outcome) ? "ok  " : "FAIL";
  return `${verdict}  ${check.name}: ${result}${check.apolloFails ? "" : ", none must fail"}`;
}
