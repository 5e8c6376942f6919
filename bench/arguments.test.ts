import { expect, test } from "vitest";
import { parseArguments } from "./arguments.ts";
import { contenderNames } from "./contenders/contenders.ts";

test("without arguments the run is complete, with three rounds, and writes RESULTS.md", () => {
  expect(parseArguments([])).toMatchObject({
    contenders: contenderNames,
    rounds: 3,
    writesResults: true,
    profile: undefined,
  });
});

test("--quick runs the selected workloads and contenders in one round", () => {
  expect(parseArguments(["--quick", "--only", "heavy,small", "--contenders", "stock,ours-fast"])).toMatchObject({
    contenders: ["stock", "ours-fast"],
    workloads: ["heavy", "small"],
    rounds: 1,
    writesResults: false,
  });
});

test("a partial run writes RESULTS.md only with --write and at least three rounds", () => {
  expect(parseArguments(["--contenders", "stock"]).writesResults).toBe(false);
  expect(parseArguments(["--rounds", "2"]).writesResults).toBe(false);
  expect(parseArguments(["--only", "heavy", "--write"]).writesResults).toBe(true);
  expect(parseArguments(["--only", "heavy", "--write", "--rounds", "2"]).writesResults).toBe(false);
  expect(parseArguments(["--rounds", "5", "--seconds", "10"])).toMatchObject({ writesResults: true, windowMs: 10_000 });
});

test("--profile uses the heavy workload unless --workload names another", () => {
  expect(parseArguments(["--profile", "ours-fast"])).toMatchObject({ profile: "ours-fast", workloads: ["heavy"] });
  expect(parseArguments(["--profile", "ours-fast", "--workload", "small"]).workloads).toEqual(["small"]);
});

test("an unknown name is rejected with the known names", () => {
  expect(() => parseArguments(["--only", "heavvy"])).toThrow(/heavvy.*heavy, heavy-varying/);
  expect(() => parseArguments(["--rounds", "0"])).toThrow("--rounds");
});
