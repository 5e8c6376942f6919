import { expect, test } from "vitest";
import type { LoadReport } from "../processes/open-loop.ts";
import type { RestartStep } from "../verify-rolling/steps.ts";
import { type ComposeOutcome, report } from "./report.ts";

const none: LoadReport = { count: 10, latenciesMs: [1], sendDelayMsMax: 0, failures: new Map() };
const failing: LoadReport = { ...none, failures: new Map([["502", 2]]) };
const traffic = { "graphql reads": none, "graphql writes": none, "rest reads": none, "rest writes": none };
const restarted: RestartStep = { kind: "restarted", name: "posts 1", report: traffic, exitCode: 0, writesInFlight: 0 };
const killed: RestartStep = { ...restarted, kind: "killed", exitCode: null, writesInFlight: 2 };
const frozen: RestartStep = { ...killed, kind: "frozen", writesInFlight: 0, recoveredMs: 50_000 };
const image = { name: "users", addedMb: 31, addedMbMax: 100, faults: [] };
const good: ComposeOutcome = {
  images: [image],
  journey: { requestCount: 15, faults: [] },
  jobs: { exitCodes: [0, 0] },
  isDataKept: true,
  shares: [{ via: "gateway", service: "posts", replicaShares: [0.3, 0.3, 0.4] }],
  steps: [restarted, killed, frozen],
  audit: { stored: 3, lost: [], duplicated: [] },
};
const run = (outcome: Partial<ComposeOutcome>, control = false) => {
  const lines: string[] = [];
  const passed = report({ ...good, ...outcome }, { perSecond: 8, control }, (line) => void lines.push(line));
  return { passed, text: lines.join("\n") };
};

test("restarts without failed requests pass", () => {
  expect(run({})).toMatchObject({ passed: true, text: expect.stringContaining("0 of 40") });
});

test.each<[string, Partial<ComposeOutcome>]>([
  ["an image that is too large", { images: [{ ...image, addedMb: 101 }] }],
  ["an image that runs as root", { images: [{ ...image, faults: ["runs as root"] }] }],
  ["a job that fails", { jobs: { exitCodes: [0, 1] } }],
  ["data that is seeded twice", { isDataKept: false }],
  ["a wrong step of the journey", { journey: { requestCount: 15, faults: ["a user: 502"] } }],
  ["a replica without traffic", { shares: [{ via: "gateway", service: "posts", replicaShares: [0.5, 0.5, 0] }] }],
  ["a service with only one replica", { shares: [{ via: "gateway", service: "posts", replicaShares: [1] }] }],
  ["a request that fails in a restart", { steps: [{ ...restarted, report: { ...traffic, "rest reads": failing } }] }],
  ["a container that Docker has to kill", { steps: [{ ...restarted, exitCode: 137 }] }],
  ["a read that fails in a kill", { steps: [restarted, { ...killed, report: { ...traffic, "rest reads": failing } }] }],
  [
    "more failed writes than were in flight",
    { steps: [restarted, { ...killed, writesInFlight: 1, report: { ...traffic, "rest writes": failing } }] },
  ],
  ["a frozen replica that is restarted late", { steps: [restarted, { ...frozen, recoveredMs: 75_001 }] }],
  [
    "more failed requests than a frozen replica may cause",
    {
      steps: [
        restarted,
        { ...frozen, report: { ...traffic, "rest reads": { ...none, failures: new Map([["504", 41]]) } } },
      ],
    },
  ],
  ["a write that is lost", { audit: { stored: 3, lost: ["a"], duplicated: [] } }],
  ["a write that is stored twice", { audit: { stored: 3, lost: [], duplicated: ["a"] } }],
])("%s fails", (_, outcome) => {
  expect(run(outcome)).toMatchObject({ passed: false, text: expect.stringContaining("FAIL") });
});

test("writes that were in flight at a killed replica may fail", () => {
  const steps = [restarted, { ...killed, report: { ...traffic, "rest writes": failing } }];
  expect(run({ steps }).passed).toBe(true);
});

test("requests that were sent to a frozen replica may fail", () => {
  const steps = [restarted, { ...frozen, report: { ...traffic, "rest reads": failing } }];
  expect(run({ steps }).passed).toBe(true);
});

test("the control passes only if it finds failed requests", () => {
  expect(run({}, true).passed).toBe(false);
  expect(run({ steps: [{ ...restarted, report: { ...traffic, "rest reads": failing } }] }, true).passed).toBe(true);
});
