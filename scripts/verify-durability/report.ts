import type { VerifyOptions } from "./options.ts";
import type { Outcome } from "./run.ts";

/** Prints what happened and which checks passed. @returns whether all did. */
export function report(outcome: Outcome, options: VerifyOptions, say: (line: string) => void): boolean {
  const { serviceBackMs, postgresBackMs } = outcome;
  const rows: readonly (readonly [string, number])[] = [
    ["kills of the service", serviceBackMs.length],
    ["kills of PostgreSQL", postgresBackMs.length],
    ["service back again, median ms", median(serviceBackMs)],
    ["PostgreSQL back again, median ms", median(postgresBackMs)],
    ["requests sent again", outcome.sentAgain],
    ["answers that were lost, and replayed", outcome.replayed],
    ["orders confirmed", outcome.confirmed],
    ["lost", outcome.lost],
    ["doubled", outcome.doubled],
    ["changed", outcome.changed],
    ["products with wrong stock", outcome.stockWrong],
    ["keys without their order, orders without their key", outcome.recordsWrong],
  ];
  say("");
  for (const [what, count] of rows) say(`${what.padEnd(52)}${count.toLocaleString("en").padStart(9)}`);
  say("");
  const checks = options.control ? controlChecks(outcome) : usualChecks(outcome);
  for (const [claim, holds] of checks) say(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  const failed = checks.filter(([, holds]) => !holds).length;
  say(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

type Check = readonly [claim: string, holds: boolean];

function usualChecks({ confirmed, lost, doubled, changed, stockWrong, recordsWrong }: Outcome): readonly Check[] {
  return [
    ["orders were confirmed", confirmed > 0],
    ["no confirmed order is lost", lost === 0],
    ["no order is doubled", doubled === 0],
    ["every order is what was ordered", changed === 0],
    ["stock adds up", stockWrong === 0],
    ["every key has its order, and every order its key", recordsWrong === 0],
  ];
}

/** A database that forgets loses whole transactions, never parts of them: so stock adds up there too. */
function controlChecks({ lost, stockWrong, recordsWrong }: Outcome): readonly Check[] {
  return [
    ["the control finds confirmed orders that are lost", lost > 0],
    ["and what is left is whole", stockWrong === 0 && recordsWrong === 0],
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
