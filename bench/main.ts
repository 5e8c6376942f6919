// READ FIRST: `node bench/main.ts gateway | rest | telemetry` measures one of the three benchmarks. README.md describes the method.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchmarkArguments, parseArguments, takesPart, toUsage } from "./arguments.ts";
import type { Benchmark, Contender } from "./benchmark.ts";
import { readNginxVersion } from "./contenders/nginx.ts";
import { installPeers } from "./contenders/peers.ts";
import { gatewayBenchmark } from "./gateway.ts";
import { type Cell, measureCell } from "./measure/measure-cell.ts";
import { printProfile } from "./preload/self-times.ts";
import { writeResults } from "./report/results-file.ts";
import { printProgress, printReport } from "./report/tables.ts";
import type { CellFailure } from "./report/summary.ts";
import { restBenchmark } from "./rest.ts";
import { telemetryBenchmark } from "./telemetry.ts";
import { startTestbed, type Testbed } from "./testbed/testbed.ts";

const benchmarks = new Map([
  ["gateway", gatewayBenchmark],
  ["rest", restBenchmark],
  ["telemetry", telemetryBenchmark],
]);

// So that the listeners of `exit` kill the child processes (testbed/pinned-process.ts).
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
  const hasDatabase = contenders.some(({ requires }) => requires === "posts database");
  const testbed = await startTestbed({ hasDatabase });
  const { cells, failures } = await measureAll({ ...args, contenders }, testbed);
  await testbed.stop();
  if (failures.length > 0) process.exitCode = 1;
  if (args.profiles) return printProfiles(cells);
  const run = { ...benchmark, ...args, contenders, cells, failures };
  const report = printReport(run);
  console.log(`\n${report}`);
  if (args.writesResults === "never") return;
  const isComplete = skipped.length === 0 && failures.length === 0;
  if (args.writesResults === "if complete" && !isComplete) {
    return console.log("\nRESULTS.md is not changed, because contenders failed or were skipped. --write changes it.");
  }
  const command = ["npm run", benchmark.script, ...(words.length === 0 ? [] : ["--", ...words])].join(" ");
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
  const isRequired = (name: string) => selected.some(({ requires }) => requires === name);
  const problems = new Map<string, string | undefined>([
    ["peers", isRequired("peers") ? installPeers() : undefined],
    ["nginx", readNginxVersion() === undefined ? "nginx is not installed" : undefined],
  ]);
  // "posts database" is never missing: the testbed starts it.
  const findProblem = ({ requires }: Contender) => problems.get(requires ?? "");
  const skipped = selected.flatMap((contender) => {
    const problem = findProblem(contender);
    return problem === undefined ? [] : [`${contender.title}, because ${problem}.`];
  });
  for (const line of skipped) console.log(`Skipped: ${line}`);
  return { contenders: selected.filter((contender) => findProblem(contender) === undefined), skipped };
}

/**
 * Measures each workload in rounds. In each round every contender runs once: A B C, A B C, …. A contender that failed does not take part in
 * the workload's further rounds.
 */
async function measureAll(args: BenchmarkArguments, testbed: Testbed) {
  const cells: Cell[] = [];
  const failures: CellFailure[] = [];
  for (const { contender, workload, round } of listCells(args)) {
    const hasFailed = failures.some((each) => each.contender === contender.name && each.workload === workload.name);
    if (hasFailed) continue;
    // With probes, the pauses of the contender's event loop are measured too, by a preloaded script.
    const pauses = workload.probeEveryMs === undefined ? undefined : "loop-pauses";
    const preload = args.profiles ? "cpu-profile" : pauses;
    try {
      const cell = await measureCell(contender, workload, { ...args, testbed, round, preload });
      cells.push(cell);
      console.log(printProgress(cell));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      failures.push({ contender: contender.name, workload: workload.name, problem });
      console.log(`${workload.name} ${contender.name} FAILED: ${problem}`);
    }
  }
  return { cells, failures };
}

function listCells({ contenders, workloads, rounds, profiles }: BenchmarkArguments) {
  const roundNumbers = Array.from({ length: profiles ? 1 : rounds }, (_, index) => index + 1);
  return workloads.flatMap((workload) =>
    roundNumbers.flatMap((round) =>
      contenders
        .filter((contender) => takesPart(contender, workload))
        .map((contender) => ({ contender, workload, round })),
    ),
  );
}

function printProfiles(cells: readonly Cell[]): void {
  for (const cell of cells) {
    console.log(`\n${printProfile(cell)}`);
    const folder = mkdtempSync(join(tmpdir(), "bench-profile-"));
    const file = join(folder, `${cell.contender}-${cell.workload}.cpuprofile`);
    writeFileSync(file, JSON.stringify(cell.preloadReport));
    console.log(`\nThe complete profile, for the developer tools of a browser: ${file}`);
  }
}
