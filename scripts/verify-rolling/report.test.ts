import { expect, test } from "vitest";
import type { LoadReport } from "../processes/open-loop.ts";
import { report } from "./report.ts";
import { describeStep, type Outcome, type Step } from "./steps.ts";

const none: LoadReport = { count: 10, latenciesMs: [1, 20], sendDelayMsMax: 0, failures: new Map() };
const failing: LoadReport = { ...none, failures: new Map([["a post: 502", 2]]) };
const allRight = { "graphql reads": none, "graphql writes": none, "rest reads": none, "rest writes": none };
const restarted: Step = { kind: "restarted", name: "posts 1", report: allRight, exitCode: 0, writesHeld: 0 };
const killed: Step = { ...restarted, kind: "killed", exitCode: null, writesHeld: 2 };
const audit = { stored: 3, lost: [], duplicated: [] };
const good: Outcome = { steps: [restarted, killed], audit };

const run = (outcome: Partial<Outcome>, control = false) => {
  const lines: string[] = [];
  const isGood = report(
    { ...good, ...outcome },
    { perSecond: 8, control, logs: undefined },
    (line) => void lines.push(line),
  );
  return { isGood, text: lines.join("\n") };
};

test("restarts that nobody notices are what is wanted", () => {
  expect(run({})).toMatchObject({ isGood: true, text: expect.stringContaining("0 of 40") });
});

test.each<[string, Partial<Outcome>]>([
  ["a request that fails in a restart", { steps: [{ ...restarted, report: { ...allRight, "rest reads": failing } }] }],
  ["a process that has to be killed", { steps: [{ ...restarted, exitCode: 1 }] }],
  [
    "a read that fails in a kill",
    { steps: [restarted, { ...killed, report: { ...allRight, "rest reads": failing } }] },
  ],
  [
    "more writes that fail than a killed process held",
    { steps: [restarted, { ...killed, writesHeld: 1, report: { ...allRight, "rest writes": failing } }] },
  ],
  ["no request at all", { steps: [] }],
  ["a write that is lost", { audit: { ...audit, lost: ["a"] } }],
  ["a write that is there twice", { audit: { ...audit, duplicated: ["a"] } }],
])("%s fails", (_, outcome) => {
  expect(run(outcome)).toMatchObject({ isGood: false, text: expect.stringContaining("FAIL") });
});

test("writes may fail that a killed process held", () => {
  const steps = [restarted, { ...killed, report: { ...allRight, "rest writes": failing } }];
  expect(run({ steps }).isGood).toBe(true);
});

test("the control has to find requests that fail", () => {
  expect(run({}, true).isGood).toBe(false);
  expect(run({ steps: [{ ...restarted, report: { ...allRight, "rest reads": failing } }] }, true).isGood).toBe(true);
});

test("a step is told with what failed in it", () => {
  expect(describeStep({ ...killed, report: { ...allRight, "rest writes": failing } }).split("\n")).toEqual([
    expect.stringMatching(/^posts 1 +killed +40 +2 +20 +2$/),
    "  2× rest writes: a post: 502",
  ]);
});
