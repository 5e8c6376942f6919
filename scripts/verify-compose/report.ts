import type { Audit } from "../journey/audit.ts";
import type { Stream } from "../journey/traffic.ts";
import { countFailures, countRequests, type Step, sum } from "../verify-rolling/steps.ts";
import type { ImageFacts } from "./images.ts";
import type { VerifyOptions } from "./options.ts";
import { isFair, type Share } from "./shares.ts";

export interface Outcome {
  readonly images: readonly ImageFacts[];
  /** The journey through the published doors. */
  readonly walked: { readonly count: number; readonly faults: readonly string[] };
  readonly jobs: { readonly exitCodes: readonly number[] };
  /** Brought up a second time, nothing was seeded. */
  readonly isSeedKept: boolean;
  readonly shares: readonly Share[];
  readonly steps: readonly Step[];
  readonly audit: Audit;
}

type Claim = readonly [claim: string, holds: boolean];

/** From the SIGSTOP until the container is restarted and ready: 50 s by the health check of docker-compose.yml, then the start. */
const recoveredMsMax = 75_000;
/**
 * Requests that a frozen replica costs: each of the four gateway and proxy processes sends it five before it is ejected, and up to five while
 * those time out or as probes.
 */
const frozenFailuresMax = 40;

const reads: readonly Stream[] = ["graphql reads", "rest reads"];

/** Prints which claims hold. @returns whether all do. */
export function report(outcome: Outcome, { control }: VerifyOptions, print: (line: string) => void): boolean {
  print("");
  for (const fault of outcome.walked.faults) print(`  ${fault}`);
  const claims = control ? controlClaims(outcome) : [...standingClaims(outcome), ...rollingClaims(outcome)];
  for (const [claim, holds] of claims) print(`${holds ? "ok  " : "FAIL"}  ${claim}`);
  return claims.every(([, holds]) => holds);
}

function standingClaims({ images, walked, jobs, isSeedKept, shares }: Outcome): readonly Claim[] {
  return [
    ["no image is larger than it may be", images.every(({ addedMb, addedMbMax }) => addedMb <= addedMbMax)],
    ["each image is made as it has to be", images.length > 0 && images.every(({ faults }) => faults.length === 0)],
    ["each job ends well", jobs.exitCodes.length > 0 && jobs.exitCodes.every((code) => code === 0)],
    ["data that is there is not seeded again", isSeedKept],
    ["each step of the journey holds through the published doors", walked.count > 0 && walked.faults.length === 0],
    ["each replica has its share from either door", shares.length > 0 && shares.every(isFair)],
  ];
}

function rollingClaims({ steps, audit }: Outcome): readonly Claim[] {
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
      "each container that is told to end ends by itself",
      others.every(({ kind, exitCode }) => kind === "calm" || exitCode === 0),
    ],
    ["no read fails when a replica is killed", killed.every(({ report }) => countFailures(report, reads) === 0)],
    [
      "of the writes at most those fail then that were under way",
      killed.every(({ report, writesHeld }) => countFailures(report) <= writesHeld),
    ],
    ...frozen.map(({ name, recoveredMs = Infinity }): Claim => {
      const seconds = (ms: number) => `${(ms / 1_000).toFixed(0)} s`;
      const claim = `frozen, ${name} is restarted and ready within ${seconds(recoveredMsMax)}: ${seconds(recoveredMs)}`;
      return [claim, recoveredMs <= recoveredMsMax];
    }),
    [
      `at most ${frozenFailuresMax} requests fail when a replica is frozen`,
      frozen.every(({ report }) => countFailures(report) <= frozenFailuresMax),
    ],
    ["what was confirmed is there", audit.stored > 0 && audit.lost.length === 0],
    ["nothing is there twice", audit.duplicated.length === 0],
  ];
}

function controlClaims({ steps }: Outcome): readonly Claim[] {
  const failed = sum(steps.map(({ report }) => countFailures(report)));
  return [[`the control finds requests that fail: ${failed}`, failed > 0]];
}
