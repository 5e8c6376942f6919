// What RESULTS.md promises: complete runs, ratios of medians, and targets of existing contenders.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { parseArguments } from "./arguments.ts";
import { gatewayBenchmark } from "./benchmarks/gateway-benchmark.ts";
import { restBenchmark } from "./benchmarks/rest-benchmark.ts";
import { telemetryBenchmark } from "./benchmarks/telemetry-benchmark.ts";
import type { Cell } from "./cells/measure-cell.ts";
import type { ContenderContext } from "./contenders/contender.ts";
import { medianInterval } from "./measure/quantile.ts";
import { replaceSection } from "./report/results-file.ts";
import { findCpuRatio, formatRatio } from "./report/summary.ts";
import { formatReport } from "./report/tables.ts";

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

const target = { title: "stock ÷ ours", numerator: "stock", denominator: "ours-fast", min: { heavy: 20 } };

test("a ratio is the median of the ratios of the rounds in which both contenders were measured", () => {
  const stock = [10, 30, 20].map((cpuSeconds, index) => toCell("stock", { cpuSeconds, round: index + 1 }));
  const ours = [1, 1, 1].map((cpuSeconds, index) => toCell("ours-fast", { cpuSeconds, round: 3 - index }));
  expect(findCpuRatio(target, "heavy", [...stock, ...ours])).toBeCloseTo(20);
  expect(findCpuRatio(target, "heavy", [...stock, ...ours.slice(0, 1)])).toBeCloseTo(20);
  expect(findCpuRatio(target, "heavy", stock)).toBeUndefined();
});

test("a target is compared with the exact ratio, not with the printed one", () => {
  const cells = [toCell("stock", { cpuSeconds: 10 }), toCell("ours-fast", { cpuSeconds: 0.501 })];
  expect(formatRatio(target, "heavy", cells)).toBe("20× ✗ (≥ 20)");
});

test("the cost of telemetry is the median of the pairs' ratios", () => {
  const cells = [1.2, 1.05, 1.3].map((cpuSeconds, index) =>
    toCell("gateway", { cpuSeconds, round: index + 1, baseline: toCell("gateway", { cpuSeconds: 1 }) }),
  );
  expect(formatReport({ ...telemetryBenchmark, cells, failures: [] })).toContain("1.20× ✗ | 1.05–1.30 | 1.05–1.30 |");
});

test("the interval of a median leaves out the ranks that a fair coin would reach in 2.5 % of the cases", () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  expect(medianInterval(numbers)).toEqual([6, 15]);
  expect(medianInterval([3, 1, 2])).toEqual([1, 3]);
});

test("--against pairs Tributary with another checkout, and never writes RESULTS.md", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const other = mkdtempSync(join(tmpdir(), "tributary-checkout-"));
  onTestFinished(() => rmSync(other, { recursive: true }));
  expect(() => parse("--against", other)).toThrow("no checkout");
  mkdirSync(join(other, "node_modules/graphql"), { recursive: true });
  const args = parse("--against", other, "--only", "small");
  expect(args?.writesResults).toBe("never");
  expect(args?.contenders.map(({ isOurs }) => isOurs)).not.toContain(false);
  const context = { folder: other, port: 1, subgraphUrls: {} } as ContenderContext;
  const fast = args?.contenders.find(({ name }) => name === "ours-fast");
  expect(fast?.start(context).args).toContain(join(root, "gateway/src/main.ts"));
  expect(fast?.baseline?.start(context).args).toContain(join(other, "gateway/src/main.ts"));
  expect(() => parse("--against", other, "--contenders", "stock")).toThrow("only contenders of Tributary");
});

test("a section of RESULTS.md is replaced in its position, and the others remain", () => {
  const whole = "# One\n\nold\n\n## Below\n\nold too\n\n# Two\n\nremains\n";
  expect(replaceSection(whole, "One", "new")).toBe("# One\n\nnew\n\n# Two\n\nremains\n");
  expect(replaceSection(whole, "Three", "more")).toBe(`${whole}\n# Three\n\nmore\n`);
});

/** Of a thousand requests in a quiet second. */
function toCell(contender: string, cell: Partial<Cell>): Cell {
  return {
    workload: "heavy",
    contender,
    round: 1,
    requests: 1_000,
    seconds: 1,
    latencyMs: { p50: 1, p99: 2 },
    cpuSeconds: 1,
    rssBytesMax: 100e6,
    otherCpuShare: 0,
    loadCoreShare: 0.5,
    fetches: 16_000,
    computed: 0,
    baseline: undefined,
    preloadReport: undefined,
    ...cell,
  };
}
