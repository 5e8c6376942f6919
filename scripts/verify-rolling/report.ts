import type { Stream } from "../journey/traffic.ts";
import type { VerifyOptions } from "./options.ts";
import { countFailures, countRequests, type Outcome, type Step, sum } from "./steps.ts";

type Claim = readonly [claim: string, holds: boolean];

const reads: readonly Stream[] = ["graphql reads", "rest reads"];
const writes: readonly Stream[] = ["graphql writes", "rest writes"];

/** Prints which claims hold. @returns whether all do. */
export function report(outcome: Outcome, { control }: VerifyOptions, print: (line: string) => void): boolean {
  const { stored, lost, duplicated } = outcome.audit;
  print(`\n${stored.toLocaleString("en")} comments were written; ${lost.length} lost, ${duplicated.length} doubled\n`);
  const claims = control ? controlClaims(outcome) : usualClaims(outcome);
  for (const [claim, holds] of claims) print(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  return claims.every(([, holds]) => holds);
}

function usualClaims({ steps, audit }: Outcome): readonly Claim[] {
  const killed = steps.filter(({ kind }) => kind === "killed");
  const others = steps.filter(({ kind }) => kind !== "killed");
  const requests = sum(others.map(({ report }) => countRequests(report)));
  const failed = sum(others.map(({ report }) => countFailures(report)));
  const ofAll = `${failed} of ${requests.toLocaleString("en")}`;
  return [
    [`no request fails while processes are restarted and moved: ${ofAll}`, requests > 0 && failed === 0],
    ["each process that is told to end ends by itself", others.every(endedWell)],
    [
      "no read fails when a process of a service is killed",
      killed.every(({ report }) => countFailures(report, reads) === 0),
    ],
    ["of the writes at most those fail then that were under way", killed.every(failsOnlyHeld)],
    ["what was confirmed is there", audit.stored > 0 && audit.lost.length === 0],
    ["nothing is there twice", audit.duplicated.length === 0],
  ];
}

function controlClaims({ steps }: Outcome): readonly Claim[] {
  const failed = sum(steps.filter(({ kind }) => kind === "restarted").map(({ report }) => countFailures(report)));
  return [[`the control finds requests that fail: ${failed}`, failed > 0]];
}

function endedWell({ kind, exitCode }: Step): boolean {
  return kind === "calm" || exitCode === 0;
}

function failsOnlyHeld({ report, writesHeld }: Step): boolean {
  return countFailures(report, writes) <= writesHeld;
}
