// The claims of the verifications hold for a correct outcome, and fail for each incorrect one.
import { expect, test } from "vitest";
import type { LoadReport } from "../traffic/open-loop.ts";
import { findChanges, toOutcomes } from "./cache/outcomes.ts";
import type { SuiteTest } from "./cache/suite.ts";
import { findImageFaults } from "./compose/images.ts";
import { createLedger } from "./rest/ledger.ts";
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

const tests = [suiteTest("a"), suiteTest("b", "optimal"), suiteTest("c", "optimal", "b")];
const failure = ["Assertion", "no"] as const;

test("the result of a test whose dependency failed is not counted", () => {
  const chain = [suiteTest("a"), suiteTest("b", "check", "a"), suiteTest("c", "check", "b"), suiteTest("d")];
  const setup = ["Setup", "Response 1 status is 500, not 200"] as const;
  const outcomes = toOutcomes(chain, { a: failure, b: true, c: setup, d: setup });
  expect([...outcomes.values()]).toEqual(["fail", "dependency", "dependency", "setup"]);
});

test("a network error is a failure, and a test without a result was not run", () => {
  const outcomes = toOutcomes([suiteTest("a"), suiteTest("b")], { a: ["FetchError", "socket hang up"] });
  expect([...outcomes.values()]).toEqual(["fail", "not-run"]);
});

test.each([
  ["every failure is known", { a: true, b: failure, c: failure }, ["b"], []],
  ["a failure is unknown", { a: failure, b: true, c: true }, [], ["a fails: Assertion: no (a)"]],
  ["a known failure passes", { a: true, b: true, c: true }, ["b"], [listed("b", "its outcome is pass")]],
  ["a known failure is no test", { a: true, b: true, c: true }, ["x"], [listed("x", "its outcome is undefined")]],
  ["an id is listed twice", { a: failure, b: true, c: true }, ["a", "a"], ["a is listed twice as a known failure"]],
] as const)("the changes if %s", (_, results, ids, changes) => {
  expect(findChanges(tests, results, [{ reason: "it is so", ids }])).toEqual(changes);
});

function listed(id: string, but: string): string {
  return `${id} is listed as a known failure, but ${but}`;
}

function suiteTest(id: string, kind: SuiteTest["kind"] = "required", ...dependsOn: string[]): SuiteTest {
  return { id, name: id, kind, dependsOn };
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

const posts = [
  { id: "1", etag: '"a"' },
  { id: "2", etag: '"b"' },
];

test("a post has one writer at a time", () => {
  const ledger = createLedger(posts);
  const [first, second] = [ledger.reserve(), ledger.reserve()];
  expect(new Set([first?.id, second?.id])).toEqual(new Set(["1", "2"]));
  expect(ledger.reserve()).toBeUndefined();
  first?.release();
  expect(ledger.reserve()?.id).toBe(first?.id);
});

test("a released write is required of reads that start later, not of earlier ones", () => {
  const ledger = createLedger(posts);
  const post = ledger.reserve();
  const before = ledger.confirmed();
  post?.release({ etag: '"c"', confirmed: { title: 3, commentId: 8 } });
  expect(before.get(post?.id ?? "")).toEqual({ title: 0, commentId: 0 });
  expect(ledger.confirmed().get(post?.id ?? "")).toEqual({ title: 3, commentId: 8 });
  ledger.reserve()?.release();
  expect(ledger.reserve()?.etag).toBe('"c"');
});
