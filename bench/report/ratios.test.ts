import { expect, test } from "vitest";
import type { ContenderName } from "../contenders/contenders.ts";
import { findRatio, printRatio } from "./ratios.ts";
import type { Summaries, Summary } from "./summary.ts";
import type { RatioRow } from "./targets.ts";

const row: RatioRow = { title: "stock ÷ ours", denominator: "ours-fast", numerator: "stock", min: { heavy: 20 } };

test("a ratio divides the CPU per request of the other gateway by ours", () => {
  const summaries = toSummaries({ stock: 10, "ours-fast": 0.4 });
  expect(findRatio(row, "heavy", summaries)).toEqual({ value: 25, min: 20, isMet: true });
});

test("a target of 20 is missed by 19.96, which is printed as 20", () => {
  const ratio = findRatio(row, "heavy", toSummaries({ stock: 10, "ours-fast": 0.501 }));
  expect(printRatio(ratio)).toBe("20× ✗ (≥ 20)");
});

test("a target is not met without a measurement", () => {
  const ratio = findRatio(row, "heavy", toSummaries({ stock: 10 }));
  expect(ratio.isMet).toBe(false);
  expect(printRatio(ratio)).toBe("– (≥ 20)");
});

test("a ratio without a target is printed as a number", () => {
  expect(printRatio({ value: 2.14, min: undefined, isMet: false })).toBe("2.1×");
});

test("a ratio below 1.05 is printed with two decimals", () => {
  expect(printRatio({ value: 0.904, min: 0.91, isMet: false })).toBe("0.90× ✗ (≥ 0.91)");
});

function toSummaries(cpuMs: Partial<Record<ContenderName, number>>): Summaries {
  return {
    find: (_, name) => (cpuMs[name] === undefined ? undefined : ({ cpuMsPerRequest: cpuMs[name] } as Summary)),
  };
}
