import { expect, test } from "vitest";
import { matches, readQuery, splitAlternatives } from "./promql.ts";

test("a query is read into the series it asks for and the labels it groups them by", () => {
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

test("what is left out is told from what is kept", () => {
  expect(readQuery("a / ignoring (state) b").groupings.map(({ isExcluding }) => isExcluding)).toEqual([true]);
  expect(readQuery("sum without (le) (a)").groupings.map(({ isExcluding }) => isExcluding)).toEqual([true]);
});

test.each(["sum(rate(a[5m])", "rat(a[5m])", "sum by job (a)", "a{job=x}", "a >", "rate(a[5 fathoms])", ""])(
  "%j is not PromQL",
  (text) => {
    expect(() => readQuery(text)).toThrow("not PromQL");
  },
);

test("a selector finds the samples that all its matchers fit", () => {
  const [selector] = readQuery('a{job="x", status=~"5..|401", code!="B", outcome!~"ok|aborted"}').selectors;
  const finds = (labels: Readonly<Record<string, string>>, name = "a") =>
    selector !== undefined && matches(selector, { name, labels });
  expect(finds({ status: "503", code: "A", outcome: "failed" })).toBe(true);
  expect(finds({ status: "503", code: "A", outcome: "failed" }, "b")).toBe(false);
  expect(finds({ status: "404", code: "A", outcome: "failed" })).toBe(false);
  expect(finds({ status: "503", code: "B", outcome: "failed" })).toBe(false);
  expect(finds({ status: "503", code: "A", outcome: "aborted" })).toBe(false);
  expect(selector && splitAlternatives(selector).map(({ matchers }) => matchers[1]?.value)).toEqual(["5..", "401"]);
});
