// READ FIRST: `node bench/main.ts gateway | rest | telemetry` measures one of the three benchmarks. README.md describes the method.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pinThisProcess } from "@tributary/kit/testing/processes/launched-process";
import { type BenchmarkArguments, parseArguments, takesPart, toUsage } from "./arguments.ts";
import type { Benchmark } from "./benchmarks/benchmark.ts";
import { gatewayBenchmark } from "./benchmarks/gateway-benchmark.ts";
import { restBenchmark } from "./benchmarks/rest-benchmark.ts";
import { telemetryBenchmark } from "./benchmarks/telemetry-benchmark.ts";
import { type Cell, measureCell } from "./cells/measure-cell.ts";
import type { Contender } from "./contenders/contender.ts";
import { readNginxVersion } from "./contenders/nginx.ts";
import { installPeers } from "./contenders/peers.ts";
import type { PreloadModule } from "./preload/preload.ts";
import { formatProfile } from "./preload/self-times.ts";
import { writeResults } from "./report/results-file.ts";
import type { BenchmarkRun, CellFailure } from "./report/summary.ts";
import { formatProgress, formatReport } from "./report/tables.ts";
import { startTestbed, type Testbed } from "./testbed/testbed.ts";
import type { Workload } from "./workloads/workload.ts";

const benchmarks = new Map([
  ["gateway", gatewayBenchmark],
  ["rest", restBenchmark],
  ["telemetry", telemetryBenchmark],
]);

// So that the listeners of `exit` kill the child processes (launched-process.ts).
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
await main(process.argv.slice(2));

async function main([name = "", ...words]: readonly string[]): Promise<void> {
  const benchmark = benchmarks.get(name);
  if (benchmark === undefined) {
    console.error(`"${name}" is not one of ${[...benchmarks.keys()].join(", ")}.`);
    process.exitCode = 2;
    return;
  }
  const args = readArguments(words, benchmark);
  if (args === undefined) return;
  if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc and pins with taskset.");
  const { contenders, skipped } = installContenders(args.contenders);
  // The contenders have core 0 alone: the database of the posts service is started by this process.
  pinThisProcess(1);
  const hasDatabase = contenders.some(({ requires }) => requires === "posts database");
  const testbed = await startTestbed({ hasDatabase });
  const { cells, failures } = await measureAll({ ...args, contenders }, testbed);
  await testbed.stop();
  if (failures.length > 0) process.exitCode = 1;
  if (args.profiles) {
    printProfiles(cells);
    return;
  }
  // The arguments replace the benchmark's workloads, rounds and times.
  const run: BenchmarkRun = { ...benchmark, ...args, contenders, cells, failures };
  const report = formatReport(run);
  console.log(`\n${report}`);
  if (args.writesResults === "never") return;
  const isComplete = skipped.length === 0 && failures.length === 0;
  if (args.writesResults === "if complete" && !isComplete) {
    console.log("\nRESULTS.md is not changed, because contenders failed or were skipped. --write changes it.");
    return;
  }
  const script = `npm run ${benchmark.script}`;
  const command = words.length === 0 ? script : `${script} -- ${words.join(" ")}`;
  console.log(`\nWritten to ${writeResults({ ...run, command, skipped }, report)}.`);
}

/** Prints the usage and returns undefined for `--help`, and for invalid options, which also set the exit code 2. */
function readArguments(words: readonly string[], benchmark: Benchmark): BenchmarkArguments | undefined {
  try {
    const args = parseArguments(words, benchmark);
    if (args === undefined) console.log(toUsage(benchmark));
    return args;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${toUsage(benchmark)}`);
    process.exitCode = 2;
    return undefined;
  }
}

/** Installs bench/peers if a contender requires it. Leaves out the contenders whose requirement is missing. */
function installContenders(selected: readonly Contender[]) {
  const requiresPeers = selected.some(({ requires }) => requires === "peers");
  /** Why a requirement is missing; undefined if it is not. "posts database" is never missing: the testbed starts it. */
  const problems = new Map<Contender["requires"], string | undefined>([
    ["peers", requiresPeers ? installPeers() : undefined],
    ["nginx", readNginxVersion() === undefined ? "nginx is not installed" : undefined],
  ]);
  const contenders: Contender[] = [];
  const skipped: string[] = [];
  for (const contender of selected) {
    const problem = problems.get(contender.requires);
    if (problem === undefined) contenders.push(contender);
    else skipped.push(`${contender.title}, because ${problem}.`);
  }
  for (const line of skipped) console.log(`Skipped: ${line}`);
  return { contenders, skipped };
}

/**
 * Measures each workload in rounds. In each round every contender runs once: A B C, A B C, …. A contender that failed does not take part in
 * the workload's further rounds.
 */
async function measureAll(args: BenchmarkArguments, testbed: Testbed) {
  const cells: Cell[] = [];
  const failures: CellFailure[] = [];
  const { warmUpMs, windowMs } = args;
  for (const { contender, workload, round } of listCells(args)) {
    const hasFailed = failures.some(
      (failure) => failure.contender === contender.name && failure.workload === workload.name,
    );
    if (hasFailed) continue;
    const preload = choosePreload(workload, args);
    try {
      const cell = await measureCell(contender, workload, { testbed, round, warmUpMs, windowMs, preload });
      cells.push(cell);
      console.log(formatProgress(cell));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      failures.push({ contender: contender.name, workload: workload.name, problem });
      console.log(`${workload.name} ${contender.name} FAILED: ${problem}`);
    }
  }
  return { cells, failures };
}

/** In workloads with a probe, a preloaded module measures the pauses of the contender's event loop. */
function choosePreload(workload: Workload, { profiles }: BenchmarkArguments): PreloadModule | undefined {
  if (profiles) return "cpu-profile";
  return workload.probeEveryMs === undefined ? undefined : "loop-pauses";
}

interface PlannedCell {
  readonly contender: Contender;
  readonly workload: Workload;
  readonly round: number;
}

function listCells({ contenders, workloads, rounds, profiles }: BenchmarkArguments): readonly PlannedCell[] {
  const lastRound = profiles ? 1 : rounds;
  const cells: PlannedCell[] = [];
  for (const workload of workloads) {
    const participants = contenders.filter((contender) => takesPart(contender, workload));
    for (let round = 1; round <= lastRound; round += 1) {
      for (const contender of participants) cells.push({ contender, workload, round });
    }
  }
  return cells;
}

function printProfiles(cells: readonly Cell[]): void {
  for (const cell of cells) {
    console.log(`\n${formatProfile(cell)}`);
    const folder = mkdtempSync(join(tmpdir(), "bench-profile-"));
    const file = join(folder, `${cell.contender}-${cell.workload}.cpuprofile`);
    writeFileSync(file, JSON.stringify(cell.preloadReport));
    console.log(`\nThe complete profile, for the developer tools of a browser: ${file}`);
  }
}
