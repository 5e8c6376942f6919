import { expect, test } from "vitest";
import type { LoadReport } from "../processes/open-loop.ts";
import { report } from "./report.ts";
import { describeStep, type RollingOutcome, type RestartStep } from "./steps.ts";

const none: LoadReport = { count: 10, latenciesMs: [1, 20], sendDelayMsMax: 0, failures: new Map() };
const failing: LoadReport = { ...none, failures: new Map([["a post: 502", 2]]) };
const allRight = { "graphql reads": none, "graphql writes": none, "rest reads": none, "rest writes": none };
const restarted: RestartStep = { kind: "restarted", name: "posts 1", report: allRight, exitCode: 0, writesInFlight: 0 };
const killed: RestartStep = { ...restarted, kind: "killed", exitCode: null, writesInFlight: 2 };
const audit = { stored: 3, lost: [], duplicated: [] };
const good: RollingOutcome = { steps: [restarted, killed], audit };

const run = (outcome: Partial<RollingOutcome>, control = false) => {
  const lines: string[] = [];
  const passed = report(
    { ...good, ...outcome },
    { perSecond: 8, control, logs: undefined },
    (line) => void lines.push(line),
  );
  return { passed, text: lines.join("\n") };
};

test("restarts without failed requests pass", () => {
  expect(run({})).toMatchObject({ passed: true, text: expect.stringContaining("0 of 40") });
});

test.each<[string, Partial<RollingOutcome>]>([
  ["a request that fails in a restart", { steps: [{ ...restarted, report: { ...allRight, "rest reads": failing } }] }],
  ["a process that has to be killed", { steps: [{ ...restarted, exitCode: 1 }] }],
  [
    "a read that fails in a kill",
    { steps: [restarted, { ...killed, report: { ...allRight, "rest reads": failing } }] },
  ],
  [
    "more failed writes than were in flight",
    { steps: [restarted, { ...killed, writesInFlight: 1, report: { ...allRight, "rest writes": failing } }] },
  ],
  ["no requests", { steps: [] }],
  ["a write that is lost", { audit: { ...audit, lost: ["a"] } }],
  ["a write that is stored twice", { audit: { ...audit, duplicated: ["a"] } }],
])("%s fails", (_, outcome) => {
  expect(run(outcome)).toMatchObject({ passed: false, text: expect.stringContaining("FAIL") });
});

test("writes that were in flight at a killed process may fail", () => {
  const steps = [restarted, { ...killed, report: { ...allRight, "rest writes": failing } }];
  expect(run({ steps }).passed).toBe(true);
});

test("the control passes only if it finds failed requests", () => {
  expect(run({}, true).passed).toBe(false);
  expect(run({ steps: [{ ...restarted, report: { ...allRight, "rest reads": failing } }] }, true).passed).toBe(true);
});

test("a step is printed with its failures", () => {
  expect(describeStep({ ...killed, report: { ...allRight, "rest writes": failing } }).split("\n")).toEqual([
    expect.stringMatching(/^posts 1 +killed +40 +2 +20 +2$/),
    "  2× rest writes: a post: 502",
  ]);
});
