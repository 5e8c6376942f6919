import type { Check, Finding } from "./check.ts";

export interface CheckOutcome {
  readonly check: Check;
  readonly findings: readonly Finding[];
}

type Say = (line: string) => void;

/** Wrong answers can be long. */
const measuredCharsMax = 400;

export function reportFinding({ claim, holds, measured }: Finding, print: Say): void {
  print(`  ${holds ? "ok  " : "FAIL"}  ${claim}: ${measured.slice(0, measuredCharsMax)}`);
}

/** The last line. @returns whether all is as it should be: with `control`, that each check which can find something does. */
export function reportAll(outcomes: readonly CheckOutcome[], control: boolean, print: Say): boolean {
  const isGood = control ? controlIsGood : ({ findings }: CheckOutcome) => findings.every(({ holds }) => holds);
  const bad = outcomes.filter((outcome) => !isGood(outcome));
  if (control) for (const outcome of outcomes) print(describeControl(outcome));
  const names = bad.map(({ check }) => check.name).join(", ");
  print(`${outcomes.length - bad.length} passed, ${bad.length} failed${bad.length > 0 ? `: ${names}` : ""}`);
  return bad.length === 0;
}

function failuresOf({ findings }: CheckOutcome): number {
  return findings.filter(({ holds }) => !holds).length;
}

function controlIsGood(outcome: CheckOutcome): boolean {
  return !outcome.check.stockFails || failuresOf(outcome) > 0;
}

function describeControl(outcome: CheckOutcome): string {
  const { check, findings } = outcome;
  const found = `${failuresOf(outcome)} of ${findings.length} claims do not hold for stock`;
  const verdict = !check.stockFails ? "    " : controlIsGood(outcome) ? "ok  " : "FAIL";
  return `${verdict}  ${check.name}: ${found}${check.stockFails ? "" : ", none has to fail"}`;
}
