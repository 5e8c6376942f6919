import { expect, test } from "vitest";
import { faultNames } from "./faults.ts";
import type { Played } from "./play.ts";
import type { Answered } from "./queries.ts";
import { describeOutcome, report, type Verified } from "./report.ts";

const told: Played = {
  alert: "UnitGone",
  unit: "posts",
  expectation: "told",
  receiver: "page",
  afterMs: 4_000,
  pageFault: undefined,
  overAfterMs: 1_000,
};
const missed: Played = { ...told, receiver: undefined, afterMs: undefined, overAfterMs: undefined };
const silenced: Played = { ...missed, alert: "ServiceFails", expectation: "silenced", afterMs: 9_000 };
const asked: Answered = { where: "gateway, CPU", expr: "up", found: "healthy", error: undefined };
const fault = { name: "unit-gone", what: "posts is killed" };
const good: Verified = {
  checks: [{ what: "promtool takes it", isGood: true, words: "" }],
  ratios: [{ level: "gateway completeness", ratio: 0.31, seen: { count: 300, failed: 100 } }],
  falseAlarms: [],
  outcomes: [{ fault, alerts: [told, silenced] }],
  answered: [asked],
};
const played = (alert: Played): Partial<Verified> => ({ outcomes: [{ fault, alerts: [alert] }] });

const run = (verified: Partial<Verified>, control = false, only = faultNames) => {
  const lines: string[] = [];
  const options = { perSecond: 8, only, programs: undefined, logs: undefined, control };
  const isGood = report({ ...good, ...verified }, options, (line) => void lines.push(line));
  return { isGood, text: lines.join("\n") };
};

test("alerts that are told or silenced, lead to their pages and end, are what is wanted", () => {
  expect(run({})).toMatchObject({ isGood: true, text: expect.stringContaining("missed: none") });
});

test.each<[string, Partial<Verified>]>([
  ["a file that promtool refuses", { checks: [{ what: "promtool takes it", isGood: false, words: "no" }] }],
  ["a ratio that misses failures", { ratios: [{ level: "a", ratio: 0, seen: { count: 300, failed: 100 } }] }],
  ["a ratio that is not recorded", { ratios: [{ level: "a", ratio: undefined, seen: { count: 300, failed: 100 } }] }],
  [
    "a ratio of an outage that clients did not see",
    { ratios: [{ level: "a", ratio: 0, seen: { count: 300, failed: 0 } }] },
  ],
  ["an alert of a healthy platform", { falseAlarms: ["EventLoopLate posts"] }],
  ["an alert that is not told", played(missed)],
  ["an alert that is not silenced", played({ ...silenced, afterMs: undefined })],
  ["an alert that nobody expects", played({ ...told, expectation: "unexpected" })],
  ["an alert that leads nowhere", played({ ...told, pageFault: "404" })],
  ["an alert that does not end", played({ ...told, overAfterMs: undefined })],
  ["a query without data", { answered: [{ ...asked, found: "never" }] }],
  ["a query that Prometheus refuses", { answered: [{ ...asked, found: "never", error: "parse error" }] }],
  ["no query at all", { answered: [] }],
])("%s fails", (_, verified) => {
  expect(run(verified)).toMatchObject({ isGood: false, text: expect.stringContaining("FAIL") });
});

test("the alert whose windows are hours need not end, nor be", () => {
  const slow: Played = { ...told, alert: "ServiceLevelBurnsSlowly", expectation: "follows", overAfterMs: undefined };
  expect(run(played(slow)).isGood).toBe(true);
});

test("where not all faults are made a query has to be understood, and need not bring data", () => {
  const silent: Answered = { ...asked, found: "never" };
  expect(run({ answered: [silent] }, false, ["unit-gone"]).isGood).toBe(true);
  expect(run({ answered: [{ ...silent, error: "parse error" }] }, false, ["unit-gone"]).isGood).toBe(false);
});

test("the control has to miss what no fault brings", () => {
  expect(run({}, true).isGood).toBe(false);
  expect(run(played(missed), true).isGood).toBe(true);
});

test("an alert is told with its times, which are also said as they would be in full", () => {
  expect(describeOutcome({ fault, alerts: [told, missed] }).split("\n")).toEqual([
    "unit-gone: posts is killed",
    expect.stringMatching(/^ +UnitGone +posts +told +page +4\.0 s +2\.0 min +1\.0 s$/),
    expect.stringMatching(/^ +UnitGone +posts +MISSED +nobody$/),
  ]);
});
