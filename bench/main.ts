// npm run bench: measures this gateway beside others. README.md beside this file describes the method.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchmarkArguments, parseArguments, usage } from "./arguments.ts";
import { type Contender, contenders } from "./contenders/contenders.ts";
import { installPeers } from "./contenders/peers.ts";
import { createReferenceExecutor } from "./graph/reference-executor.ts";
import { printProfile } from "./report/profile-report.ts";
import { printProgress, printReport } from "./report/report.ts";
import { writeResults } from "./report/results-file.ts";
import { printResultsSection } from "./report/results-section.ts";
import { summarize } from "./report/summary.ts";
import { compare, type CellFailure, type MeasuredCell } from "./run/compare.ts";
import { type Testbed, startTestbed } from "./run/testbed.ts";
import type { CellOptions } from "./run/measure-cell.ts";
import { profileCell } from "./run/profile-cell.ts";
import { type Workload, workloads } from "./workloads/workloads.ts";

if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc and pins with taskset.");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
if (process.argv.includes("--help")) console.log(usage);
else await main(parseArguments(process.argv.slice(2)));

async function main(args: BenchmarkArguments): Promise<void> {
  const { available, skipped } = selectContenders(args);
  const selected = workloads.filter(({ name }) => args.workloads.includes(name));
  const testbed = await startTestbed();
  try {
    const options = toOptions(testbed, args);
    if (args.profile === undefined) await runComparison(available, selected, skipped, args, options);
    else await runProfile(available, selected, options);
  } finally {
    await testbed.stop();
  }
}

function selectContenders({ contenders: names, profile }: BenchmarkArguments) {
  const selected = contenders.filter(({ name }) => (profile === undefined ? names.includes(name) : name === profile));
  const problem = selected.some(({ isPeer }) => isPeer) ? installPeers() : undefined;
  if (problem === undefined) return { available: selected, skipped: [] };
  const skipped = selected.filter(({ isPeer }) => isPeer).map(({ title }) => `${title}, because ${problem}.`);
  for (const line of skipped) console.log(`Skipped: ${line}`);
  return { available: selected.filter(({ isPeer }) => !isPeer), skipped };
}

function toOptions(testbed: Testbed, { warmUpMs, windowMs }: BenchmarkArguments): CellOptions {
  const supergraphFile = join(mkdtempSync(join(tmpdir(), "bench-")), "supergraph.graphql");
  return { testbed, supergraphFile, executeReference: createReferenceExecutor(), warmUpMs, windowMs };
}

async function runComparison(
  available: readonly Contender[],
  selected: readonly Workload[],
  skipped: readonly string[],
  args: BenchmarkArguments,
  options: CellOptions,
): Promise<void> {
  const measured: MeasuredCell[] = [];
  const failures: CellFailure[] = [];
  const onCell = (cell: MeasuredCell) => {
    measured.push(cell);
    console.log(printProgress(cell));
  };
  const onFailure = (failure: CellFailure) => {
    failures.push(failure);
    console.log(`${failure.workload} ${failure.contender} FAILED: ${failure.problem}`);
  };
  await compare({ contenders: available, workloads: selected, rounds: args.rounds, onCell, onFailure }, options);
  const tableData = { contenders: available, workloads: selected, summaries: summarize(measured) };
  const report = printReport(tableData, failures);
  console.log(`\n${report}`);
  if (failures.length > 0) process.exitCode = 1;
  if (!args.writesResults) return;
  const command = ["npm run bench", ...process.argv.slice(2)].join(" ");
  const file = writeResults("Gateway", printResultsSection(tableData, report, { ...args, command, skipped }));
  console.log(`\nWritten to ${file}.`);
}

async function runProfile(available: readonly Contender[], selected: readonly Workload[], options: CellOptions) {
  for (const contender of available) {
    for (const workload of selected) {
      const profiledCell = await profileCell(contender, workload, options);
      console.log(printProfile(profiledCell));
      const file = join(mkdtempSync(join(tmpdir(), "bench-profile-")), `${contender.name}-${workload.name}.cpuprofile`);
      writeFileSync(file, JSON.stringify(profiledCell.cell.preloadReport));
      console.log(`\nThe complete profile, for the developer tools of a browser: ${file}`);
    }
  }
}
