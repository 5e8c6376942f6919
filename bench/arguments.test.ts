import { expect, test } from "vitest";
import { parseArguments } from "./arguments.ts";
import { gatewayBenchmark } from "./gateway.ts";
import { restBenchmark } from "./rest.ts";
import { telemetryBenchmark } from "./telemetry.ts";

const parse = (...words: string[]) => parseArguments(words, gatewayBenchmark);

test("only a complete run of at least three rounds of full length writes RESULTS.md", () => {
  expect(parse()?.writesResults).toBe("if complete");
  expect(parse("--rounds", "5", "--seconds", "10")?.writesResults).toBe("if complete");
  for (const option of ["--rounds=2", "--seconds=1", "--quick", "--contenders=stock", "--profile=ours-fast"]) {
    expect(parse(option)?.writesResults, option).toBe("never");
  }
});

test("a partial run writes RESULTS.md only with --write, and never a short one", () => {
  expect(parse("--only", "heavy", "--write")?.writesResults).toBe("always");
  expect(parse("--only", "heavy", "--write", "--rounds", "2")?.writesResults).toBe("never");
  expect(parse("--quick", "--write", "--rounds", "3")?.writesResults).toBe("never");
});

test("an invalid option is rejected with its valid values", () => {
  expect(() => parse("--only", "heavvy")).toThrow(/heavvy.*heavy, heavy-varying/);
  expect(() => parse("--rounds", "0")).toThrow("--rounds");
  expect(() => parse("--onyl", "heavy")).toThrow("--onyl");
  expect(() => parseArguments(["--only", "hit", "--contenders", "fastify"], restBenchmark)).toThrow("takes part");
});

test("targets name contenders and workloads that exist", () => {
  for (const { contenders, workloads, ratioTargets } of [gatewayBenchmark, restBenchmark, telemetryBenchmark]) {
    const contenderNames = contenders.map(({ name }) => name);
    const workloadNames = workloads.map(({ name }) => name);
    for (const { numerator, denominator, denominatorWorkload = [], min, max } of ratioTargets) {
      expect(contenderNames).toEqual(expect.arrayContaining([numerator, denominator]));
      const named = [denominatorWorkload, Object.keys({ ...min, ...max })].flat();
      expect(workloadNames).toEqual(expect.arrayContaining(named));
    }
    const named = contenders.flatMap((contender) => contender.workloads ?? []);
    expect(workloadNames).toEqual(expect.arrayContaining(named));
  }
});
