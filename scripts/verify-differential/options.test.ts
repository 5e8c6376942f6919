import { expect, test } from "vitest";
import { readOptions, usage } from "./options.ts";

test("without options all animals are asked 20,000 operations", () => {
  expect(readOptions([])).toEqual({ operations: 20_000, seed: 20_261, animal: "", control: false });
});

test("operations, seed and animals can be chosen, and the control", () => {
  const args = ["--operations", "100", "--seed", "7", "--animal", "keys-", "--control"];
  expect(readOptions(args)).toEqual({ operations: 100, seed: 7, animal: "keys-", control: true });
});

test.each([[["--operations", "0"]], [["--operations", "many"]], [["--seed", "-1"]], [["--lane", "fast"]], [["keys"]]])(
  "%j is no command line",
  (args) => {
    expect(readOptions(args)).toBeUndefined();
  },
);

test("the usage names every option", () => {
  for (const name of ["operations", "seed", "animal", "control"]) expect(usage).toContain(`--${name}`);
});
