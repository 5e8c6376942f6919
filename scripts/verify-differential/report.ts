import type { VerifyOptions } from "./options.ts";
import type { Outcome } from "./run.ts";

/** Prints what was compared and whether the check passed. @returns whether it did. */
export function report(outcomes: readonly Outcome[], options: VerifyOptions, say: (line: string) => void): boolean {
  say("");
  for (const { name, comparedCount, differences, tookMs } of outcomes) {
    const found = differences.length > 0 ? `different: ${differences.map(({ what }) => what).join(", ")}` : "equal";
    say(`${name.padEnd(28)}${toCount(comparedCount)} operations ${toSeconds(tookMs)}  ${found}`);
  }
  const comparedCount = sum(outcomes.map((outcome) => outcome.comparedCount));
  const differenceCount = sum(outcomes.map(({ differences }) => differences.length));
  const passed = comparedCount > 0 && (options.control ? differenceCount > 0 : differenceCount === 0);
  const asked = options.control ? "stock" : "both lanes";
  say("");
  say(
    `${passed ? "ok  " : "FAIL"}  ${outcomes.length} animals, ${comparedCount.toLocaleString("en")} operations through ${asked}, ` +
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
