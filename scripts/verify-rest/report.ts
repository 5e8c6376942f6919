import type { VerifyOptions } from "./options.ts";
import type { Counts } from "./traffic.ts";

const examplesMax = 5;

/** Prints what happened and which claims hold. @returns whether all do. */
export function report(
  { reads, writes, hits, stale, failures }: Counts,
  { control }: VerifyOptions,
  say: (line: string) => void,
) {
  const rows: readonly (readonly [string, number])[] = [
    ["writes", writes],
    ["reads", reads],
    ["of them from the proxy's cache", hits],
    ["stale reads", stale.length],
    ["answers that were no success", failures.length],
  ];
  say("");
  for (const [what, count] of rows) say(`${what.padEnd(34)}${count.toLocaleString("en").padStart(9)}`);
  for (const example of [...failures, ...stale].slice(0, examplesMax)) say(`  ${example}`);
  say("");
  const claims: readonly (readonly [string, boolean])[] = [
    ["every request succeeds", failures.length === 0],
    ["some reads come from the cache", hits > 0],
    control
      ? ["the control finds reads that are older than a write that was answered", stale.length > 0]
      : ["no read is older than a write that was answered before it", stale.length === 0],
  ];
  for (const [claim, holds] of claims) say(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  return claims.every(([, holds]) => holds);
}
