import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { contenderNames } from "./contenders/contenders.ts";

test("without arguments the run is complete and official, with three rounds", () => {
  expect(readArguments([])).toMatchObject({
    contenders: contenderNames,
    rounds: 3,
    official: true,
    profile: undefined,
  });
});

test("--quick runs the selected workloads and contenders in one round", () => {
  expect(readArguments(["--quick", "--only", "heavy,small", "--contenders", "stock,ours-fast"])).toMatchObject({
    contenders: ["stock", "ours-fast"],
    workloads: ["heavy", "small"],
    rounds: 1,
    official: false,
  });
});

test("a partial run is official only with --write and three rounds", () => {
  expect(readArguments(["--contenders", "stock"]).official).toBe(false);
  expect(readArguments(["--rounds", "2"]).official).toBe(false);
  expect(readArguments(["--only", "heavy", "--write"]).official).toBe(true);
  expect(readArguments(["--only", "heavy", "--write", "--rounds", "2"]).official).toBe(false);
  expect(readArguments(["--rounds", "5", "--seconds", "10"])).toMatchObject({ official: true, windowMs: 10_000 });
});

test("--profile uses the heavy workload unless --workload names another", () => {
  expect(readArguments(["--profile", "ours-fast"])).toMatchObject({ profile: "ours-fast", workloads: ["heavy"] });
  expect(readArguments(["--profile", "ours-fast", "--workload", "small"]).workloads).toEqual(["small"]);
});

test("an unknown name is rejected with the known names", () => {
  expect(() => readArguments(["--only", "heavvy"])).toThrow(/heavvy.*heavy, heavy-varying/);
  expect(() => readArguments(["--rounds", "0"])).toThrow("--rounds");
});
