import { faultNames } from "./faults.ts";
import type { AlertCheckOptions } from "./options.ts";
import { slowBurnAlert, type FaultOutcome, type AlertOutcome } from "./fault-run.ts";
import { isRatioOf, type RecordedRatio } from "./outage.ts";
import type { QueryResult } from "./queries.ts";
import { shorteningFactor } from "./shorten.ts";

export interface VerifiedAlerts {
  /** The checks by promtool and amtool, with their output. */
  readonly checks: readonly { readonly name: string; readonly passed: boolean; readonly output: string }[];
  /** The recorded error ratios of the short outage; empty if it did not run. */
  readonly ratios: readonly RecordedRatio[];
  /** Alerts that were notified while the platform was healthy. */
  readonly falseAlarms: readonly string[];
  readonly outcomes: readonly FaultOutcome[];
  readonly queryResults: readonly QueryResult[];
}

type Claim = readonly [claim: string, holds: boolean];
type Print = (line: string) => void;

/** Prints the result of each check. @returns whether all checks passed. */
export function report(verified: VerifiedAlerts, { control, only }: AlertCheckOptions, print: Print): boolean {
  const hasAllFaults = faultNames.every((name) => only.includes(name));
  const hasFaults = only.some((name) => faultNames.includes(name));
  const queryClaims = hasFaults ? [queryClaim(verified, hasAllFaults, print)] : [];
  const claims = control ? controlClaims(verified) : [...alertClaims(verified), ...queryClaims];
  print("");
  for (const [claim, holds] of claims) print(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  return claims.every(([, holds]) => holds);
}

function alertClaims({ checks, ratios, falseAlarms, outcomes }: VerifiedAlerts): readonly Claim[] {
  const alerts = outcomes.flatMap((outcome) => outcome.alerts);
  const missed = alerts.filter(isMissed);
  const unexpected = alerts.filter(({ expectation }) => expectation === "unexpected");
  const runbookProblems = alerts.flatMap(({ runbookProblem }) => runbookProblem ?? []);
  const unresolved = alerts.filter(isUnresolved);
  const names = (list: readonly AlertOutcome[]) =>
    list.map(({ alert, unit }) => `${alert} ${unit}`).join(", ") || "none";
  return [
    ...checks.map(({ name, passed }): Claim => [name, passed]),
    ...ratios.map(({ level, ratio, observed }): Claim => {
      const byClients = `${observed.failed} of ${observed.count} requests, ${(observed.failed / observed.count).toFixed(4)}`;
      return [
        `the recorded error ratio of ${level} is ${ratio?.toFixed(4)} after an outage of 4 s; clients observed ${byClients}`,
        isRatioOf(ratio, observed),
      ];
    }),
    [`the healthy platform causes no alerts: ${falseAlarms.join(", ") || "none"}`, falseAlarms.length === 0],
    [`each fault's alerts are notified or inhibited as expected; missed: ${names(missed)}`, missed.length === 0],
    [`no other alerts are notified: ${names(unexpected)}`, unexpected.length === 0],
    [`each alert links to its runbook: ${runbookProblems.join("; ") || "all"}`, runbookProblems.length === 0],
    [`each alert resolves after its fault is undone; unresolved: ${names(unresolved)}`, unresolved.length === 0],
  ];
}

/** @param isWhole whether every fault ran. Otherwise some queries have no data, and only their syntax is checked. */
function queryClaim({ queryResults }: VerifiedAlerts, isWhole: boolean, print: Print): Claim {
  const silent = queryResults.filter(({ dataFrom }) => dataFrom === "never");
  for (const { source, expr, error } of silent) print(`no data: ${source}: ${expr}\n  ${error ?? "no error message"}`);
  const inFaultsOnly = queryResults.filter(({ dataFrom }) => dataFrom === "faults").length;
  const holds = silent.every(({ error }) => error === undefined && !isWhole);
  const claim = isWhole
    ? `each of ${queryResults.length} queries returns data (${inFaultsOnly} only during faults)`
    : `each of ${queryResults.length} queries is valid; data is not checked, because not all faults ran`;
  return [claim, queryResults.length > 0 && holds];
}

function controlClaims({ outcomes }: VerifiedAlerts): readonly Claim[] {
  return outcomes.map(({ fault, alerts }) => [
    `without the fault ${fault.name} its alerts are missed`,
    alerts.filter(({ expectation }) => expectation === "notified").every(isMissed),
  ]);
}

const isMissed = ({ expectation, afterMs }: AlertOutcome) =>
  (expectation === "notified" || expectation === "inhibited") && afterMs === undefined;
const isUnresolved = ({ alert, receiver, resolvedAfterMs }: AlertOutcome) =>
  alert !== slowBurnAlert && receiver !== undefined && resolvedAfterMs === undefined;

export const tableHead = toLine(["alert", "unit", "", "receiver", "after", "unshortened", "resolved"]);

/** Formats a fault, with one line for each alert. */
export function describeOutcome({ fault, alerts }: FaultOutcome): string {
  const lines = alerts.map((outcome) => {
    const { alert, unit, expectation, receiver = "none", afterMs, runbookProblem, resolvedAfterMs } = outcome;
    const cells = [alert, unit, isMissed(outcome) ? "MISSED" : expectation, receiver];
    const inFull = afterMs === undefined ? "" : `${((afterMs * shorteningFactor) / 60_000).toFixed(1)} min`;
    return toLine([...cells, seconds(afterMs), inFull, seconds(resolvedAfterMs), runbookProblem ?? ""]);
  });
  return [`${fault.name}: ${fault.description}`, ...lines].join("\n");
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "" : `${(ms / 1_000).toFixed(1)} s`;
}

function toLine(cells: readonly string[]): string {
  const widths = [25, 12, 12, 10, 12, 13, 12];
  return `  ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("")}`.trimEnd();
}
