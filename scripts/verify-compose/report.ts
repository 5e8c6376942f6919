import type { CommentAudit } from "../journey/audit.ts";
import type { Stream } from "../journey/traffic.ts";
import { countFailures, countRequests, type RestartStep, sum } from "../verify-rolling/steps.ts";
import type { ImageCheck } from "./images.ts";
import type { ComposeCheckOptions } from "./options.ts";
import { isFair, type TrafficShare } from "./traffic-shares.ts";

export interface ComposeOutcome {
  readonly images: readonly ImageCheck[];
  /** The result of the journey's requests through the published gateway and REST proxy. */
  readonly journey: { readonly requestCount: number; readonly faults: readonly string[] };
  readonly jobs: { readonly exitCodes: readonly number[] };
  /** Whether a second start of the seed job left the data unchanged. */
  readonly isDataKept: boolean;
  readonly shares: readonly TrafficShare[];
  readonly steps: readonly RestartStep[];
  readonly audit: CommentAudit;
}

type Claim = readonly [claim: string, holds: boolean];

/** The limit from SIGSTOP until the container is restarted and ready: 50 s for the health check of docker-compose.yml, then the start. */
const recoveredMsMax = 75_000;
/**
 * Requests that may fail while a replica is frozen: in each of the four gateway and proxy processes the writes of the first second, until the
 * replica is ejected. Reads go to another replica.
 */
const frozenFailuresMax = 40;

const reads: readonly Stream[] = ["graphql reads", "rest reads"];

/** Prints the result of each check. @returns whether all checks passed. */
export function report(
  outcome: ComposeOutcome,
  { control }: ComposeCheckOptions,
  print: (line: string) => void,
): boolean {
  print("");
  for (const fault of outcome.journey.faults) print(`  ${fault}`);
  const claims = control ? controlClaims(outcome) : [...imageAndStartClaims(outcome), ...restartClaims(outcome)];
  for (const [claim, holds] of claims) print(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  return claims.every(([, holds]) => holds);
}

function imageAndStartClaims({ images, journey, jobs, isDataKept, shares }: ComposeOutcome): readonly Claim[] {
  return [
    ["no image exceeds its size limit", images.every(({ addedMb, addedMbMax }) => addedMb <= addedMbMax)],
    ["each image meets all requirements", images.length > 0 && images.every(({ faults }) => faults.length === 0)],
    ["each job succeeds", jobs.exitCodes.length > 0 && jobs.exitCodes.every((code) => code === 0)],
    ["existing data is not seeded again", isDataKept],
    [
      "each request of the journey succeeds through the published ports",
      journey.requestCount > 0 && journey.faults.length === 0,
    ],
    [
      "each replica gets its share of the traffic from the gateway and from the REST proxy",
      shares.length > 0 && shares.every(isFair),
    ],
  ];
}

function restartClaims({ steps, audit }: ComposeOutcome): readonly Claim[] {
  const killed = steps.filter(({ kind }) => kind === "killed");
  const frozen = steps.filter(({ kind }) => kind === "frozen");
  const others = steps.filter(({ kind }) => kind !== "killed" && kind !== "frozen");
  const requests = sum(others.map(({ report }) => countRequests(report)));
  const failed = sum(others.map(({ report }) => countFailures(report)));
  return [
    [
      `no request fails while each container is restarted: ${failed} of ${requests.toLocaleString("en")}`,
      requests > 0 && failed === 0,
    ],
    [
      "each stopped container ends without being killed",
      others.every(({ kind, exitCode }) => kind === "baseline" || exitCode === 0),
    ],
    ["no read fails when a replica is killed", killed.every(({ report }) => countFailures(report, reads) === 0)],
    [
      "at most the writes that were in flight at a killed replica fail",
      killed.every(({ report, writesInFlight }) => countFailures(report) <= writesInFlight),
    ],
    ...frozen.map(({ name, recoveredMs = Infinity }): Claim => {
      const seconds = (ms: number) => `${(ms / 1_000).toFixed(0)} s`;
      const claim = `the frozen ${name} is restarted and ready within ${seconds(recoveredMsMax)}: ${seconds(recoveredMs)}`;
      return [claim, recoveredMs <= recoveredMsMax];
    }),
    [
      `at most ${frozenFailuresMax} requests fail when a replica is frozen`,
      frozen.every(({ report }) => countFailures(report) <= frozenFailuresMax),
    ],
    ["every confirmed comment is stored", audit.stored > 0 && audit.lost.length === 0],
    ["no comment is stored twice", audit.duplicated.length === 0],
  ];
}

function controlClaims({ steps }: ComposeOutcome): readonly Claim[] {
  const failed = sum(steps.map(({ report }) => countFailures(report)));
  return [[`the control finds requests that fail: ${failed}`, failed > 0]];
}
