import type { DurabilityOptions } from "./options.ts";
import type { DurabilityOutcome } from "./run.ts";

/** Prints the counts and the result of each check. @returns whether all checks passed. */
export function report(outcome: DurabilityOutcome, options: DurabilityOptions, print: (line: string) => void): boolean {
  const { serviceRestartMs, postgresRestartMs } = outcome;
  const rows: readonly (readonly [string, number])[] = [
    ["kills of the service", serviceRestartMs.length],
    ["kills of PostgreSQL", postgresRestartMs.length],
    ["service restart until ready, median ms", median(serviceRestartMs)],
    ["PostgreSQL restart until ready, median ms", median(postgresRestartMs)],
    ["retried requests", outcome.retries],
    ["replayed responses of lost ones", outcome.replayed],
    ["orders confirmed", outcome.confirmed],
    ["lost", outcome.lost],
    ["duplicated", outcome.duplicated],
    ["changed", outcome.changed],
    ["products with wrong stock", outcome.stockWrong],
    ["keys without an order, orders without a key", outcome.recordsWrong],
  ];
  print("");
  for (const [label, count] of rows) print(`${label.padEnd(52)}${count.toLocaleString("en").padStart(9)}`);
  print("");
  const checks = options.control ? controlChecks(outcome) : durabilityChecks(outcome);
  for (const [claim, holds] of checks) print(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  const failed = checks.filter(([, holds]) => !holds).length;
  print(`${checks.length - failed} passed, ${failed} failed`);
  return failed === 0;
}

type ReportedCheck = readonly [claim: string, holds: boolean];

function durabilityChecks({
  confirmed,
  lost,
  duplicated,
  changed,
  stockWrong,
  recordsWrong,
}: DurabilityOutcome): readonly ReportedCheck[] {
  return [
    ["orders were confirmed", confirmed > 0],
    ["no confirmed order is lost", lost === 0],
    ["no order is duplicated", duplicated === 0],
    ["every order contains what was ordered", changed === 0],
    ["the stock matches the orders", stockWrong === 0],
    ["every key has its order, and every order its key", recordsWrong === 0],
  ];
}

/** Without synchronous commit PostgreSQL loses whole transactions, never parts, so the stock must match the orders here too. */
function controlChecks({ lost, stockWrong, recordsWrong }: DurabilityOutcome): readonly ReportedCheck[] {
  return [
    ["the control finds confirmed orders that are lost", lost > 0],
    ["the remaining data is consistent", stockWrong === 0 && recordsWrong === 0],
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
