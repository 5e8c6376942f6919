import { expect, test } from "vitest";
import { readOptions, usage } from "./options.ts";

test("without options 20,000 operations run against all cases", () => {
  expect(readOptions([])).toEqual({ operations: 20_000, seed: 20_261, case: "", control: false });
});

test("operations, seed, cases and the control are options", () => {
  const args = ["--operations", "100", "--seed", "7", "--case", "keys-", "--control"];
  expect(readOptions(args)).toEqual({ operations: 100, seed: 7, case: "keys-", control: true });
});

test.each([[["--operations", "0"]], [["--operations", "many"]], [["--seed", "-1"]], [["--lane", "fast"]], [["keys"]]])(
  "%j is rejected",
  (args) => {
    expect(readOptions(args)).toBeUndefined();
  },
);

test("the usage lists every option", () => {
  for (const name of ["operations", "seed", "case", "control"]) expect(usage).toContain(`--${name}`);
});
