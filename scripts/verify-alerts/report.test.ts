import { expect, test } from "vitest";
import { faultNames } from "./faults.ts";
import type { AlertOutcome } from "./fault-run.ts";
import type { QueryResult } from "./queries.ts";
import { describeOutcome, report, type VerifiedAlerts } from "./report.ts";

const notified: AlertOutcome = {
  alert: "UnitDown",
  unit: "posts",
  expectation: "notified",
  receiver: "page",
  afterMs: 4_000,
  runbookProblem: undefined,
  resolvedAfterMs: 1_000,
};
const missed: AlertOutcome = { ...notified, receiver: undefined, afterMs: undefined, resolvedAfterMs: undefined };
const inhibited: AlertOutcome = { ...missed, alert: "ServiceFails", expectation: "inhibited", afterMs: 9_000 };
const queryResult: QueryResult = { source: "gateway, CPU", expr: "up", dataFrom: "healthy", error: undefined };
const fault = { name: "unit-down", description: "posts is killed" };
const good: VerifiedAlerts = {
  checks: [{ name: "promtool takes it", passed: true, output: "" }],
  ratios: [{ level: "gateway completeness", ratio: 0.31, observed: { count: 300, failed: 100 } }],
  falseAlarms: [],
  outcomes: [{ fault, alerts: [notified, inhibited] }],
  queryResults: [queryResult],
};
const withOutcome = (alert: AlertOutcome): Partial<VerifiedAlerts> => ({ outcomes: [{ fault, alerts: [alert] }] });

const run = (verified: Partial<VerifiedAlerts>, control = false, only = faultNames) => {
  const lines: string[] = [];
  const options = { perSecond: 8, only, programs: undefined, logs: undefined, control };
  const passed = report({ ...good, ...verified }, options, (line) => void lines.push(line));
  return { passed, text: lines.join("\n") };
};

test("expected and inhibited alerts that link to their runbooks and resolve pass", () => {
  expect(run({})).toMatchObject({ passed: true, text: expect.stringContaining("missed: none") });
});

test.each<[string, Partial<VerifiedAlerts>]>([
  ["a file that promtool rejects", { checks: [{ name: "promtool takes it", passed: false, output: "no" }] }],
  ["a ratio that misses failures", { ratios: [{ level: "a", ratio: 0, observed: { count: 300, failed: 100 } }] }],
  [
    "a ratio that is not recorded",
    { ratios: [{ level: "a", ratio: undefined, observed: { count: 300, failed: 100 } }] },
  ],
  [
    "a ratio of an outage that clients did not observe",
    { ratios: [{ level: "a", ratio: 0, observed: { count: 300, failed: 0 } }] },
  ],
  ["an alert of a healthy platform", { falseAlarms: ["EventLoopLate posts"] }],
  ["an alert that is not notified", withOutcome(missed)],
  ["an alert that is not inhibited", withOutcome({ ...inhibited, afterMs: undefined })],
  ["an unexpected alert", withOutcome({ ...notified, expectation: "unexpected" })],
  ["an alert without a runbook page", withOutcome({ ...notified, runbookProblem: "404" })],
  ["an alert that does not resolve", withOutcome({ ...notified, resolvedAfterMs: undefined })],
  ["a query without data", { queryResults: [{ ...queryResult, dataFrom: "never" }] }],
  ["a query that Prometheus rejects", { queryResults: [{ ...queryResult, dataFrom: "never", error: "parse error" }] }],
  ["no queries", { queryResults: [] }],
])("%s fails", (_, verified) => {
  expect(run(verified)).toMatchObject({ passed: false, text: expect.stringContaining("FAIL") });
});

test("the slow burn alert, whose windows are hours, need neither fire nor resolve", () => {
  const slow: AlertOutcome = {
    ...notified,
    alert: "ServiceLevelBurnsSlowly",
    expectation: "possible",
    resolvedAfterMs: undefined,
  };
  expect(run(withOutcome(slow)).passed).toBe(true);
});

test("if not all faults run, a query must be valid, but need not return data", () => {
  const silent: QueryResult = { ...queryResult, dataFrom: "never" };
  expect(run({ queryResults: [silent] }, false, ["unit-down"]).passed).toBe(true);
  expect(run({ queryResults: [{ ...silent, error: "parse error" }] }, false, ["unit-down"]).passed).toBe(false);
});

test("the control passes only if the alerts are missed", () => {
  expect(run({}, true).passed).toBe(false);
  expect(run(withOutcome(missed), true).passed).toBe(true);
});

test("an alert is listed with its times, shortened and unshortened", () => {
  expect(describeOutcome({ fault, alerts: [notified, missed] }).split("\n")).toEqual([
    "unit-down: posts is killed",
    expect.stringMatching(/^ +UnitDown +posts +notified +page +4\.0 s +2\.0 min +1\.0 s$/),
    expect.stringMatching(/^ +UnitDown +posts +MISSED +none$/),
  ]);
});
