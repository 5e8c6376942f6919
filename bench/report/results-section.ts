import { describeMachine } from "./machine.ts";
import type { TableData } from "./tables.ts";

/** A run is noisy if other processes used more than this share of the gateway's core in a window. */
const otherCpuShareMax = 0.05;
/** Above this load, throughput and latency are those of the load generator. */
const loadCoreShareMax = 0.95;

export interface RunDescription {
  readonly command: string;
  readonly rounds: number;
  readonly windowMs: number;
  readonly warmUpMs: number;
  readonly skipped: readonly string[];
}

/** The gateway section of RESULTS.md: origin of the numbers, noise, and the tables. */
export function printResultsSection(tableData: TableData, report: string, run: RunDescription): string {
  const { rounds, windowMs, warmUpMs } = run;
  return [
    "Written by `npm run bench`; README.md beside this file describes the method and the tables.",
    describeNoise(tableData),
    [
      `- ${new Date().toISOString().slice(0, 10)}, \`${run.command}\``,
      `- ${rounds} rounds, each with ${warmUpMs / 1_000} s to warm up and ${windowMs / 1_000} s measured, medians of the rounds`,
      ...describeMachine().map((line) => `- ${line}`),
      ...describeLoad(tableData),
      ...run.skipped.map((line) => `- **Skipped:** ${line}`),
    ].join("\n"),
    report,
    "",
  ].join("\n\n");
}

function describeNoise({ workloads, contenders, summaries }: TableData): string {
  const shares = workloads.flatMap(({ name }) =>
    contenders.map((contender) => summaries.find(name, contender.name)?.otherCpuShare ?? 0),
  );
  const worst = Math.max(0, ...shares);
  const percent = `${(worst * 100).toFixed(0)} %`;
  return worst <= otherCpuShareMax
    ? `A quiet run: other processes took at most ${percent} of the gateways' core in any window.`
    : `**A noisy run:** other processes took up to ${percent} of the gateways' core in a window. Do not quote these numbers.`;
}

/** Lists the cells in which the load generator was the bottleneck. */
function describeLoad({ workloads, contenders, summaries }: TableData): readonly string[] {
  const limited = workloads.flatMap(({ name }) =>
    contenders
      .filter((contender) => (summaries.find(name, contender.name)?.loadCoreShare ?? 0) > loadCoreShareMax)
      .map((contender) => `${contender.name} under ${name}`),
  );
  if (limited.length === 0) return [];
  return [
    `- The load's core was the bottleneck, so requests/s and latencies measure the load generator: ${limited.join(", ")}`,
  ];
}
