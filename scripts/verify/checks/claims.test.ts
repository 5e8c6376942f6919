// The claims of the verifications hold for a correct outcome, and fail for each incorrect one.
import { expect, test } from "vitest";
import type { LoadReport } from "../traffic/open-loop.ts";
import { findChanges } from "./cache/cache.ts";
import type { SuiteTest } from "./cache/suite.ts";
import { findImageFaults } from "./compose/images.ts";
import { claimRollout, type RolloutOutcome } from "./rollout/rollout.ts";
import type { RestartStep } from "./rollout/steps.ts";

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

const tests = [suiteTest("a"), suiteTest("b"), suiteTest("c", "b")];
const failure = ["Assertion", "no"] as const;

test.each([
  ["every failure is known", { a: true, b: failure, c: failure }, ["b"], []],
  ["a failure is unknown", { a: failure, b: true, c: true }, [], ["a fails: Assertion,no (a)"]],
  ["the setup of a test fails", { a: ["Setup", "500"], b: true, c: true }, [], ["a fails: Setup,500 (a)"]],
  ["a test has no result", { a: true, b: true }, [], ["c was not run"]],
  ["a known failure passes", { a: true, b: true, c: true }, ["b"], [listed("b")]],
  ["the dependency of a known failure fails", { a: true, b: failure, c: failure }, ["b", "c"], [listed("c")]],
  ["a known failure is no test", { a: true, b: true, c: true }, ["x"], [listed("x")]],
  ["an id is listed twice", { a: failure, b: true, c: true }, ["a", "a"], ["a is listed twice as a known failure"]],
] as const)("the changes if %s", (_, results, ids, changes) => {
  expect(findChanges(tests, results, [{ reason: "it is so", ids }])).toEqual(changes);
});

function listed(id: string): string {
  return `${id} is listed as a known failure, but does not fail`;
}

function suiteTest(id: string, ...dependsOn: string[]): SuiteTest {
  return { id, name: id, dependsOn };
}

const goodImage = {
  User: "node",
  Healthcheck: { Test: ["CMD", "/app/infra/images/healthy"] },
  Entrypoint: ["/app/infra/images/start"],
  Cmd: ["node", "src/main.ts"],
  Env: ["NODE_COMPILE_CACHE=/app/.compile-cache"],
};

test("a correct image has no faults", () => {
  expect(findImageFaults(goodImage)).toEqual([]);
});

test.each([
  [{ User: "" }, "runs as root"],
  [{ Healthcheck: { Test: ["NONE"] } }, "has no health check"],
  [{ Cmd: ["/bin/sh", "-c", "node src/main.ts"] }, "is started by a shell, which does not forward signals to Node"],
  [{ Env: [] }, "contains no compile cache"],
])("an image with %j %s", (wrong, fault) => {
  expect(findImageFaults({ ...goodImage, ...wrong })).toEqual([fault]);
});
