import type { DifferentialOptions } from "./options.ts";
import type { CaseOutcome } from "./run.ts";

/** Prints the result of each case and of the check. @returns whether the check passed. */
export function report(
  outcomes: readonly CaseOutcome[],
  options: DifferentialOptions,
  print: (line: string) => void,
): boolean {
  print("");
  for (const { name, comparedCount, differences, tookMs } of outcomes) {
    const result = differences.length > 0 ? `different: ${differences.map(({ what }) => what).join(", ")}` : "equal";
    print(`${name.padEnd(28)}${toCount(comparedCount)} operations ${toSeconds(tookMs)}  ${result}`);
  }
  const comparedCount = sum(outcomes.map((outcome) => outcome.comparedCount));
  const differenceCount = sum(outcomes.map(({ differences }) => differences.length));
  const passed = comparedCount > 0 && (options.control ? differenceCount > 0 : differenceCount === 0);
  const target = options.control ? "Apollo Gateway" : "both paths";
  print("");
  print(
    `${passed ? "ok  " : "FAIL"}  ${outcomes.length} cases, ${comparedCount.toLocaleString("en")} operations through ${target}, ` +
      `${differenceCount} differences, seed ${options.seed}, ${toSeconds(sum(outcomes.map(({ tookMs }) => tookMs))).trim()}`,
  );
  return passed;
}

function toCount(count: number): string {
  return count.toLocaleString("en").padStart(7);
}

function toSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`.padStart(9);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
