import type { RestCheckOptions } from "./options.ts";
import type { RestTrafficCounts } from "./traffic.ts";

const examplesMax = 5;

/** Prints the counts and the result of each check. @returns whether all checks passed. */
export function report(
  { reads, writes, hits, stale, failures }: RestTrafficCounts,
  { control }: RestCheckOptions,
  print: (line: string) => void,
) {
  const rows: readonly (readonly [string, number])[] = [
    ["writes", writes],
    ["reads", reads],
    ["of them from the proxy's cache", hits],
    ["stale reads", stale.length],
    ["responses with an error status", failures.length],
  ];
  print("");
  for (const [label, count] of rows) print(`${label.padEnd(34)}${count.toLocaleString("en").padStart(9)}`);
  for (const example of [...failures, ...stale].slice(0, examplesMax)) print(`  ${example}`);
  print("");
  const checks: readonly (readonly [string, boolean])[] = [
    ["every request succeeds", failures.length === 0],
    ["some reads come from the cache", hits > 0],
    control
      ? ["the control finds reads that are older than a confirmed write", stale.length > 0]
      : ["no read is older than a write that was confirmed before it", stale.length === 0],
  ];
  for (const [claim, passed] of checks) print(`${passed ? "ok  " : "FAIL"}  ${claim}`);
  return checks.every(([, passed]) => passed);
}
