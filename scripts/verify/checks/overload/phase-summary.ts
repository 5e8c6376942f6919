// Adds up the report of one phase of a load for the claims, and formats it for the output.
import type { KindReport, PhaseReport } from "./load-job.ts";

/** Counts of all kinds together. */
export interface PhaseSummary extends Omit<KindReport, "latenciesMs"> {
  readonly kinds: Readonly<Record<string, KindReport>>;
  readonly served: number;
  /** Served requests per second. */
  readonly perSecond: number;
  /** Requests per second that were served in time. */
  readonly goodPerSecond: number;
  readonly cpuSeconds: number;
  readonly p99Ms: number;
}

/** @throws Error without a phase. */
export function summarize(phase: PhaseReport | undefined): PhaseSummary {
  if (!phase) throw new Error("The load has no such phase");
  const reports = Object.values(phase.kinds);
  const add = (count: (report: KindReport) => number) => reports.reduce((sum, report) => sum + count(report), 0);
  const [good, late] = [add((report) => report.good), add((report) => report.late)];
  return {
    kinds: phase.kinds,
    sent: add((report) => report.sent),
    good,
    late,
    rejected: add((report) => report.rejected),
    limited: add((report) => report.limited),
    failed: add((report) => report.failed),
    served: good + late,
    perSecond: (good + late) / phase.seconds,
    goodPerSecond: good / phase.seconds,
    cpuSeconds: phase.cpuSeconds,
    p99Ms: quantileOf(
      reports.flatMap(({ latenciesMs }) => latenciesMs),
      0.99,
    ),
  };
}

/** One line for each kind. */
export function describePhase(phase: PhaseReport): string {
  const { seconds, lagMs, cpuSeconds } = phase;
  const lines = Object.entries(phase.kinds).map(([kind, report]) => {
    const latencies = [0.5, 0.99, 1].map((share) => quantileOf(report.latenciesMs, share).toFixed(1));
    const others = [
      `late ${report.late}`,
      `rejected ${report.rejected}`,
      `limited ${report.limited}`,
      `failed ${report.failed}`,
    ];
    const share = ((100 * report.good) / Math.max(report.sent, 1)).toFixed(1);
    return `  ${kind}: ${(report.good / seconds).toFixed(0)} of ${(report.sent / seconds).toFixed(0)}/s in time (${share} %), ${others.join(", ")}, p50 ${latencies[0]} ms, p99 ${latencies[1]} ms, longest ${latencies[2]} ms`;
  });
  const use = `${((100 * cpuSeconds) / seconds).toFixed(0)} % CPU, lag ${lagMs.toFixed(1)} ms`;
  return [`${phase.name}, ${seconds} s, ${use}`, ...lines].join("\n      ");
}

/** @param share 0 to 1; 1 is the largest number. @returns one of the numbers; 0 for an empty list. */
export function quantileOf(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
