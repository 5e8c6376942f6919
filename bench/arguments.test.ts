import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { contenderNames } from "./contenders/contenders.ts";

test("without a word everything is measured in three rounds, officially", () => {
  expect(readArguments([])).toMatchObject({
    contenders: contenderNames,
    rounds: 3,
    official: true,
    profile: undefined,
  });
});

test("the quick mode measures once, what it is told to", () => {
  expect(readArguments(["--quick", "--only", "heavy,small", "--contenders", "stock,ours-fast"])).toMatchObject({
    contenders: ["stock", "ours-fast"],
    workloads: ["heavy", "small"],
    rounds: 1,
    official: false,
  });
});

test("anything left out is not official, longer windows are", () => {
  expect(readArguments(["--contenders", "stock"]).official).toBe(false);
  expect(readArguments(["--rounds", "2"]).official).toBe(false);
  expect(readArguments(["--only", "heavy", "--write"]).official).toBe(true);
  expect(readArguments(["--only", "heavy", "--write", "--rounds", "2"]).official).toBe(false);
  expect(readArguments(["--rounds", "5", "--seconds", "10"])).toMatchObject({ official: true, windowMs: 10_000 });
});

test("a profile is of the heavy workload unless another is named", () => {
  expect(readArguments(["--profile", "ours-fast"])).toMatchObject({ profile: "ours-fast", workloads: ["heavy"] });
  expect(readArguments(["--profile", "ours-fast", "--workload", "small"]).workloads).toEqual(["small"]);
});

test("a wrong name is answered with those that there are", () => {
  expect(() => readArguments(["--only", "heavvy"])).toThrow(/heavvy.*heavy, heavy-varying/);
  expect(() => readArguments(["--rounds", "0"])).toThrow("--rounds");
});
