// npm run bench: see README.md beside this file.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Arguments, readArguments, usage } from "./arguments.ts";
import { type Contender, contenders } from "./contenders/contenders.ts";
import { installPeers } from "./contenders/install-peers.ts";
import { createOracle } from "./graph/oracle.ts";
import { printCell } from "./report/cell-line.ts";
import { printProfile } from "./report/profile.ts";
import { printReport } from "./report/report.ts";
import { writeResults } from "./report/results-file.ts";
import { printResults } from "./report/results.ts";
import { summarize } from "./report/summary.ts";
import { compare, type Failure, type Measured } from "./run/compare.ts";
import { type LoadSide, startLoadSide } from "./run/load-side.ts";
import type { CellOptions } from "./run/measure-cell.ts";
import { profile } from "./run/profile.ts";
import { type Workload, workloads } from "./workloads/workloads.ts";

if (process.platform !== "linux") throw new Error("The benchmark needs Linux: it reads /proc and pins with taskset.");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
if (process.argv.includes("--help")) console.log(usage);
else await main(readArguments(process.argv.slice(2)));

async function main(asked: Arguments): Promise<void> {
  const { entrants, skipped } = chooseContenders(asked);
  const chosen = workloads.filter(({ name }) => asked.workloads.includes(name));
  const side = await startLoadSide();
  try {
    const options = toOptions(side, asked);
    if (asked.profile === undefined) await runComparison(entrants, chosen, skipped, asked, options);
    else await runProfile(entrants, chosen, options);
  } finally {
    await side.stop();
  }
}

function chooseContenders({ contenders: names, profile }: Arguments) {
  const chosen = contenders.filter(({ name }) => (profile === undefined ? names.includes(name) : name === profile));
  const problem = chosen.some(({ isPeer }) => isPeer) ? installPeers() : undefined;
  if (problem === undefined) return { entrants: chosen, skipped: [] };
  const skipped = chosen.filter(({ isPeer }) => isPeer).map(({ title }) => `${title}, because ${problem}.`);
  for (const line of skipped) console.log(`Skipped: ${line}`);
  return { entrants: chosen.filter(({ isPeer }) => !isPeer), skipped };
}

function toOptions(side: LoadSide, { warmUpMs, windowMs }: Arguments): CellOptions {
  const supergraphFile = join(mkdtempSync(join(tmpdir(), "bench-")), "supergraph.graphql");
  return { side, supergraphFile, oracle: createOracle(), warmUpMs, windowMs };
}

async function runComparison(
  entrants: readonly Contender[],
  chosen: readonly Workload[],
  skipped: readonly string[],
  asked: Arguments,
  options: CellOptions,
): Promise<void> {
  const measured: Measured[] = [];
  const failures: Failure[] = [];
  const onCell = (one: Measured) => {
    measured.push(one);
    console.log(printCell(one));
  };
  const onFailure = (failure: Failure) => {
    failures.push(failure);
    console.log(`${failure.workload} ${failure.contender} FAILED: ${failure.problem}`);
  };
  await compare({ contenders: entrants, workloads: chosen, rounds: asked.rounds, onCell, onFailure }, options);
  const tabled = { contenders: entrants, workloads: chosen, summaries: summarize(measured) };
  const report = printReport(tabled, failures);
  console.log(`\n${report}`);
  if (failures.length > 0) process.exitCode = 1;
  if (!asked.official) return;
  const command = ["npm run bench", ...process.argv.slice(2)].join(" ");
  const file = writeResults(
    "What the benchmark measured",
    printResults(tabled, report, { ...asked, command, skipped }),
  );
  console.log(`\nWritten to ${file}.`);
}

async function runProfile(entrants: readonly Contender[], chosen: readonly Workload[], options: CellOptions) {
  for (const contender of entrants) {
    for (const workload of chosen) {
      const profiled = await profile(contender, workload, options);
      console.log(printProfile(profiled));
      const file = join(mkdtempSync(join(tmpdir(), "bench-profile-")), `${contender.name}-${workload.name}.cpuprofile`);
      writeFileSync(file, JSON.stringify(profiled.cell.told));
      console.log(`\nThe whole profile, for a browser's developer tools: ${file}`);
    }
  }
}
