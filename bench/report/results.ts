import { describeMachine } from "./machine.ts";
import type { Tabled } from "./tables.ts";

/** Above this part of the gateway's core, taken by others, figures are those of a disturbed run. */
const quietMax = 0.05;
const loadCoreMax = 0.95;

export interface Run {
  readonly command: string;
  readonly rounds: number;
  readonly windowMs: number;
  readonly warmUpMs: number;
  readonly skipped: readonly string[];
}

/** RESULTS.md: where the numbers come from, what to think of them, and the tables. */
export function printResults(tabled: Tabled, report: string, run: Run): string {
  const { rounds, windowMs, warmUpMs } = run;
  return [
    "Written by `npm run bench`; how it measures, and how to read the tables, is in README.md beside this file.",
    describeNoise(tabled),
    [
      `- ${new Date().toISOString().slice(0, 10)}, \`${run.command}\``,
      `- ${rounds} rounds, each with ${warmUpMs / 1_000} s to warm up and ${windowMs / 1_000} s measured, medians of the rounds`,
      ...describeMachine().map((line) => `- ${line}`),
      ...describeLoad(tabled),
      ...run.skipped.map((line) => `- **Skipped:** ${line}`),
    ].join("\n"),
    report,
    "",
  ].join("\n\n");
}

function describeNoise({ workloads, contenders, summaries }: Tabled): string {
  const parts = workloads.flatMap(({ name }) =>
    contenders.map((contender) => summaries.find(name, contender.name)?.neighbours ?? 0),
  );
  const worst = Math.max(0, ...parts);
  const percent = `${(worst * 100).toFixed(0)} %`;
  return worst <= quietMax
    ? `A quiet run: other processes took at most ${percent} of the gateways' core in any window.`
    : `**A noisy run:** other processes took up to ${percent} of the gateways' core in a window. Do not quote these numbers.`;
}

/** Where the load's core has nothing left, it is the load that says how fast and how late. */
function describeLoad({ workloads, contenders, summaries }: Tabled): readonly string[] {
  const limited = workloads.flatMap(({ name }) =>
    contenders
      .filter((contender) => (summaries.find(name, contender.name)?.loadCore ?? 0) > loadCoreMax)
      .map((contender) => `${contender.name} under ${name}`),
  );
  if (limited.length === 0) return [];
  return [`- The load's core was full, so that requests/s and latencies are its own, with: ${limited.join(", ")}`];
}
