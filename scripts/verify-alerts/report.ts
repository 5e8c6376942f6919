import { faultNames } from "./faults.ts";
import type { VerifyOptions } from "./options.ts";
import { lasting, type Outcome, type Played } from "./play.ts";
import { isRatioOf, type RecordedRatio } from "./outage.ts";
import type { Answered } from "./queries.ts";
import { shorteningFactor } from "./shorten.ts";

export interface Verified {
  /** What promtool and amtool said, and whether it was good. */
  readonly checks: readonly { readonly what: string; readonly isGood: boolean; readonly words: string }[];
  /** After a short outage of fresh processes; empty when it was not played. */
  readonly ratios: readonly RecordedRatio[];
  /** What was told of the healthy platform. */
  readonly falseAlarms: readonly string[];
  readonly outcomes: readonly Outcome[];
  readonly answered: readonly Answered[];
}

type Claim = readonly [claim: string, holds: boolean];
type Say = (line: string) => void;

/** Prints which claims hold. @returns whether all do. */
export function report(verified: Verified, { control, only }: VerifyOptions, print: Say): boolean {
  const isWhole = faultNames.every((name) => only.includes(name));
  const isPlayed = only.some((name) => faultNames.includes(name));
  const queryClaims = isPlayed ? [queryClaim(verified, isWhole, print)] : [];
  const claims = control ? controlClaims(verified) : [...usualClaims(verified), ...queryClaims];
  print("");
  for (const [claim, holds] of claims) print(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  return claims.every(([, holds]) => holds);
}

function usualClaims({ checks, ratios, falseAlarms, outcomes }: Verified): readonly Claim[] {
  const alerts = outcomes.flatMap((outcome) => outcome.alerts);
  const missed = alerts.filter(isMissed);
  const unexpected = alerts.filter(({ expectation }) => expectation === "unexpected");
  const leadNowhere = alerts.flatMap(({ pageFault }) => pageFault ?? []);
  const notOver = alerts.filter(isNotOver);
  const names = (list: readonly Played[]) => list.map(({ alert, unit }) => `${alert} ${unit}`).join(", ") || "none";
  return [
    ...checks.map(({ what, isGood }): Claim => [what, isGood]),
    ...ratios.map(({ level, ratio, seen }): Claim => {
      const inClients = `${seen.failed} of ${seen.count} requests, ${(seen.failed / seen.count).toFixed(4)}`;
      return [
        `the error ratio of ${level} after 4 s is ${ratio?.toFixed(4)}, of clients ${inClients}`,
        isRatioOf(ratio, seen),
      ];
    }),
    [`nothing is told of the healthy platform: ${falseAlarms.join(", ") || "nothing"}`, falseAlarms.length === 0],
    [`each fault's alerts are told, or silenced by a greater one; missed: ${names(missed)}`, missed.length === 0],
    [`nothing else is told: ${names(unexpected)}`, unexpected.length === 0],
    [`each alert leads to its page: ${leadNowhere.join("; ") || "all"}`, leadNowhere.length === 0],
    [`each is over after the mend; left: ${names(notOver)}`, notOver.length === 0],
  ];
}

/** @param isWhole whether every fault was played: without it what only a fault brings is not there, and Prometheus has to understand it alone. */
function queryClaim({ answered }: Verified, isWhole: boolean, print: Say): Claim {
  const silent = answered.filter(({ found }) => found === "never");
  for (const { where, expr, error } of silent) print(`no data: ${where}: ${expr}\n  ${error ?? "no reason is known"}`);
  const inFaultsOnly = answered.filter(({ found }) => found === "faults").length;
  const holds = silent.every(({ error }) => error === undefined && !isWhole);
  const claim = isWhole
    ? `each of ${answered.length} queries brings data (${inFaultsOnly} only when something fails)`
    : `each of ${answered.length} queries is understood; which bring data is not judged, since not all faults were made`;
  return [claim, answered.length > 0 && holds];
}

function controlClaims({ outcomes }: Verified): readonly Claim[] {
  return outcomes.map(({ fault, alerts }) => [
    `without the fault ${fault.name} its alerts are missed`,
    alerts.filter(({ expectation }) => expectation === "told").every(isMissed),
  ]);
}

const isMissed = ({ expectation, afterMs }: Played) =>
  (expectation === "told" || expectation === "silenced") && afterMs === undefined;
const isNotOver = ({ alert, receiver, overAfterMs }: Played) =>
  alert !== lasting && receiver !== undefined && overAfterMs === undefined;

export const tableHead = toLine(["alert", "unit", "", "receiver", "told after", "unshortened", "over after"]);

/** A fault, and a line for each alert that came of it. */
export function describeOutcome({ fault, alerts }: Outcome): string {
  const lines = alerts.map((played) => {
    const { alert, unit, expectation, receiver = "nobody", afterMs, pageFault, overAfterMs } = played;
    const cells = [alert, unit, isMissed(played) ? "MISSED" : expectation, receiver];
    const inFull = afterMs === undefined ? "" : `${((afterMs * shorteningFactor) / 60_000).toFixed(1)} min`;
    return toLine([...cells, seconds(afterMs), inFull, seconds(overAfterMs), pageFault ?? ""]);
  });
  return [`${fault.name}: ${fault.what}`, ...lines].join("\n");
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? "" : `${(ms / 1_000).toFixed(1)} s`;
}

function toLine(cells: readonly string[]): string {
  const widths = [25, 12, 12, 10, 12, 13, 12];
  return `  ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join("")}`.trimEnd();
}
