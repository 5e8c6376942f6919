import type { Stream } from "../journey/traffic.ts";
import type { RollingOptions } from "./options.ts";
import { countFailures, countRequests, type RollingOutcome, type RestartStep, sum } from "./steps.ts";

type Claim = readonly [claim: string, holds: boolean];

const reads: readonly Stream[] = ["graphql reads", "rest reads"];
const writes: readonly Stream[] = ["graphql writes", "rest writes"];

/** Prints the result of each check. @returns whether all checks passed. */
export function report(outcome: RollingOutcome, { control }: RollingOptions, print: (line: string) => void): boolean {
  const { stored, lost, duplicated } = outcome.audit;
  print(
    `\n${stored.toLocaleString("en")} comments were written; ${lost.length} lost, ${duplicated.length} duplicated\n`,
  );
  const claims = control ? controlClaims(outcome) : restartClaims(outcome);
  for (const [claim, holds] of claims) print(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  return claims.every(([, holds]) => holds);
}

function restartClaims({ steps, audit }: RollingOutcome): readonly Claim[] {
  const killed = steps.filter(({ kind }) => kind === "killed");
  const others = steps.filter(({ kind }) => kind !== "killed");
  const requests = sum(others.map(({ report }) => countRequests(report)));
  const failed = sum(others.map(({ report }) => countFailures(report)));
  const ratio = `${failed} of ${requests.toLocaleString("en")}`;
  return [
    [`no request fails while processes are restarted and addresses change: ${ratio}`, requests > 0 && failed === 0],
    ["each process ends after SIGTERM without being killed", others.every(endedWithoutKill)],
    [
      "no read fails when a process of a service is killed",
      killed.every(({ report }) => countFailures(report, reads) === 0),
    ],
    ["at most the writes that were in flight at a killed process fail", killed.every(failsOnlyInFlight)],
    ["every confirmed comment is stored", audit.stored > 0 && audit.lost.length === 0],
    ["no comment is stored twice", audit.duplicated.length === 0],
  ];
}

function controlClaims({ steps }: RollingOutcome): readonly Claim[] {
  const failed = sum(steps.filter(({ kind }) => kind === "restarted").map(({ report }) => countFailures(report)));
  return [[`the control finds requests that fail: ${failed}`, failed > 0]];
}

function endedWithoutKill({ kind, exitCode }: RestartStep): boolean {
  return kind === "baseline" || exitCode === 0;
}

function failsOnlyInFlight({ report, writesInFlight }: RestartStep): boolean {
  return countFailures(report, writes) <= writesInFlight;
}
