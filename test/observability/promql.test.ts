import { expect, test } from "vitest";
import { matches, readQuery, splitAlternatives } from "./promql.ts";

test("a query is parsed into its selectors and its grouping labels", () => {
  const query = readQuery(
    'sum by (le, job) (rate(a_bucket{job=~"x|y", code!="Z"}[$__rate_interval])) / on (job) b > 0.5',
  );
  const a = {
    metric: "a_bucket",
    matchers: [
      { label: "job", op: "=~", value: "x|y" },
      { label: "code", op: "!=", value: "Z" },
    ],
  };
  const b = { metric: "b", matchers: [] };
  expect(query).toEqual({
    selectors: [a, b],
    groupings: [
      { isExcluding: false, labels: ["le", "job"], selectors: [a] },
      { isExcluding: false, labels: ["job"], selectors: [a, b] },
    ],
  });
});

test("excluding and including label lists are distinguished", () => {
  expect(readQuery("a / ignoring (state) b").groupings.map(({ isExcluding }) => isExcluding)).toEqual([true]);
  expect(readQuery("sum without (le) (a)").groupings.map(({ isExcluding }) => isExcluding)).toEqual([true]);
});

test.each(["sum(rate(a[5m])", "rat(a[5m])", "sum by job (a)", "a{job=x}", "a >", "rate(a[5 fathoms])", ""])(
  "%j is not PromQL",
  (text) => {
    expect(() => readQuery(text)).toThrow("not PromQL");
  },
);

test("a selector matches the samples that fit all its matchers", () => {
  const [selector] = readQuery('a{job="x", status=~"5..|401", code!="B", outcome!~"ok|aborted"}').selectors;
  const isMatch = (labels: Readonly<Record<string, string>>, name = "a") =>
    selector !== undefined && matches(selector, { name, labels });
  expect(isMatch({ status: "503", code: "A", outcome: "failed" })).toBe(true);
  expect(isMatch({ status: "503", code: "A", outcome: "failed" }, "b")).toBe(false);
  expect(isMatch({ status: "404", code: "A", outcome: "failed" })).toBe(false);
  expect(isMatch({ status: "503", code: "B", outcome: "failed" })).toBe(false);
  expect(isMatch({ status: "503", code: "A", outcome: "aborted" })).toBe(false);
  expect(selector && splitAlternatives(selector).map(({ matchers }) => matchers[1]?.value)).toEqual(["5..", "401"]);
});
