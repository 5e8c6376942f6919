import { expect, test } from "vitest";
import type { LoadReport } from "../../traffic/open-loop.ts";
import { claimRollout, type RolloutOutcome } from "./rollout.ts";
import type { RestartStep } from "./steps.ts";

const none: LoadReport = { count: 10, latenciesMs: [1, 20], sendDelayMsMax: 0, failures: new Map() };
const failing: LoadReport = { ...none, failures: new Map([["a post: 502", 2]]) };
const report = { "graphql reads": none, "graphql writes": none, "rest reads": none, "rest writes": none };
const restarted: RestartStep = { kind: "restarted", name: "posts 1", report, exitCode: 0, writesInFlight: 0 };
const killed: RestartStep = { ...restarted, kind: "killed", exitCode: null, writesInFlight: 2 };
const frozen: RestartStep = { ...restarted, kind: "frozen", exitCode: null, recoveredMs: 50_000 };
const audit = { stored: 3, lost: [], duplicated: [] };
const good: RolloutOutcome = { steps: [restarted, killed, frozen], audit };

/** @returns the claims that do not hold. */
function findFailed(outcome: Partial<RolloutOutcome>): readonly string[] {
  const failed: string[] = [];
  claimRollout({ ...good, ...outcome }, (text, holds) => void (holds || failed.push(text)));
  return failed;
}

test("restarts without failed requests, and failed writes that were in flight at a killed replica, are as promised", () => {
  const steps = [restarted, { ...killed, report: { ...report, "rest writes": failing } }, frozen];
  expect(findFailed({ steps })).toEqual([]);
});

test.each<[claim: string, Partial<RolloutOutcome>]>([
  ["no request fails", { steps: [{ ...restarted, report: { ...report, "rest reads": failing } }] }],
  ["no request fails", { steps: [] }],
  ["ends after SIGTERM", { steps: [{ ...restarted, exitCode: 1 }] }],
  ["no read fails", { steps: [restarted, { ...killed, report: { ...report, "rest reads": failing } }] }],
  [
    "in flight at a killed",
    { steps: [restarted, { ...killed, writesInFlight: 1, report: { ...report, "rest writes": failing } }] },
  ],
  ["frozen posts 1 is restarted", { steps: [restarted, { ...frozen, recoveredMs: 80_000 }] }],
  ["every confirmed comment", { audit: { ...audit, lost: ["a"] } }],
  ["stored twice", { audit: { ...audit, duplicated: ["a"] } }],
])("the claim '%s…' can fail", (claim, outcome) => {
  expect(findFailed(outcome)).toEqual([expect.stringContaining(claim)]);
});
