import { expect, test } from "vitest";
import type { LoadReport } from "../processes/open-loop.ts";
import type { Step } from "../verify-rolling/steps.ts";
import { type Outcome, report } from "./report.ts";

const none: LoadReport = { count: 10, latenciesMs: [1], sendDelayMsMax: 0, failures: new Map() };
const failing: LoadReport = { ...none, failures: new Map([["502", 2]]) };
const traffic = { "graphql reads": none, "graphql writes": none, "rest reads": none, "rest writes": none };
const restarted: Step = { kind: "restarted", name: "posts 1", report: traffic, exitCode: 0, writesHeld: 0 };
const killed: Step = { ...restarted, kind: "killed", exitCode: null, writesHeld: 2 };
const frozen: Step = { ...killed, kind: "frozen", writesHeld: 0, recoveredMs: 50_000 };
const image = { name: "users", addedMb: 31, addedMbMax: 100, faults: [] };
const good: Outcome = {
  images: [image],
  walked: { count: 15, faults: [] },
  jobs: { exitCodes: [0, 0] },
  isSeedKept: true,
  shares: [{ door: "gateway", service: "posts", parts: [0.3, 0.3, 0.4] }],
  steps: [restarted, killed, frozen],
  audit: { stored: 3, lost: [], duplicated: [] },
};
const run = (outcome: Partial<Outcome>, control = false) => {
  const lines: string[] = [];
  const isGood = report({ ...good, ...outcome }, { perSecond: 8, control }, (line) => void lines.push(line));
  return { isGood, text: lines.join("\n") };
};

test("a platform that is restarted without anybody's notice is what is wanted", () => {
  expect(run({})).toMatchObject({ isGood: true, text: expect.stringContaining("0 of 40") });
});

test.each<[string, Partial<Outcome>]>([
  ["an image that is too large", { images: [{ ...image, addedMb: 101 }] }],
  ["an image that runs as root", { images: [{ ...image, faults: ["runs as root"] }] }],
  ["a job that fails", { jobs: { exitCodes: [0, 1] } }],
  ["data that is seeded twice", { isSeedKept: false }],
  ["a wrong step of the journey", { walked: { count: 15, faults: ["a user: 502"] } }],
  ["a replica that gets nothing", { shares: [{ door: "gateway", service: "posts", parts: [0.5, 0.5, 0] }] }],
  ["a service that has but one replica", { shares: [{ door: "gateway", service: "posts", parts: [1] }] }],
  ["a request that fails in a restart", { steps: [{ ...restarted, report: { ...traffic, "rest reads": failing } }] }],
  ["a container that Docker has to kill", { steps: [{ ...restarted, exitCode: 137 }] }],
  ["a read that fails in a kill", { steps: [restarted, { ...killed, report: { ...traffic, "rest reads": failing } }] }],
  [
    "more writes that fail than were under way",
    { steps: [restarted, { ...killed, writesHeld: 1, report: { ...traffic, "rest writes": failing } }] },
  ],
  ["a frozen replica that is restarted late", { steps: [restarted, { ...frozen, recoveredMs: 75_001 }] }],
  [
    "more requests than a frozen replica may cost",
    {
      steps: [
        restarted,
        { ...frozen, report: { ...traffic, "rest reads": { ...none, failures: new Map([["504", 41]]) } } },
      ],
    },
  ],
  ["a write that is lost", { audit: { stored: 3, lost: ["a"], duplicated: [] } }],
  ["a write that is there twice", { audit: { stored: 3, lost: [], duplicated: ["a"] } }],
])("%s fails", (_, outcome) => {
  expect(run(outcome)).toMatchObject({ isGood: false, text: expect.stringContaining("FAIL") });
});

test("writes may fail that a killed replica held", () => {
  const steps = [restarted, { ...killed, report: { ...traffic, "rest writes": failing } }];
  expect(run({ steps }).isGood).toBe(true);
});

test("requests may fail that were sent to a frozen replica", () => {
  const steps = [restarted, { ...frozen, report: { ...traffic, "rest reads": failing } }];
  expect(run({ steps }).isGood).toBe(true);
});

test("the control has to find requests that fail", () => {
  expect(run({}, true).isGood).toBe(false);
  expect(run({ steps: [{ ...restarted, report: { ...traffic, "rest reads": failing } }] }, true).isGood).toBe(true);
});
