import { expect, test } from "vitest";
import type { ContenderName } from "../contenders/contenders.ts";
import { findRatio, printRatio } from "./ratios.ts";
import type { Summaries, Summary } from "./summary.ts";
import type { RatioRow } from "./targets.ts";

const row: RatioRow = { title: "ours ÷ stock", one: "ours-fast", other: "stock", min: { heavy: 20 } };

test("a ratio says how many times less CPU a request costs", () => {
  const summaries = costing({ stock: 10, "ours-fast": 0.4 });
  expect(findRatio(row, "heavy", summaries)).toEqual({ times: 25, min: 20, isMet: true });
});

test("a target that is missed by a little is missed", () => {
  const ratio = findRatio(row, "heavy", costing({ stock: 10, "ours-fast": 0.501 }));
  expect(printRatio(ratio)).toBe("20× ✗ (≥ 20)");
});

test("what was not measured meets nothing", () => {
  const ratio = findRatio(row, "heavy", costing({ stock: 10 }));
  expect(ratio.isMet).toBe(false);
  expect(printRatio(ratio)).toBe("– (≥ 20)");
});

test("without a target there is a number alone", () => {
  expect(printRatio({ times: 2.14, min: undefined, isMet: false })).toBe("2.1×");
});

test("where one costs as much as the other, hundredths are told", () => {
  expect(printRatio({ times: 0.904, min: 0.91, isMet: false })).toBe("0.90× ✗ (≥ 0.91)");
});

function costing(cpuMs: Partial<Record<ContenderName, number>>): Summaries {
  return {
    find: (_, name) => (cpuMs[name] === undefined ? undefined : ({ cpuMsPerRequest: cpuMs[name] } as Summary)),
  };
}
