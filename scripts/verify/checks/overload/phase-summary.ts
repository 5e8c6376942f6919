// Adds up the report of one phase of a load for the claims, and formats it for the output.
import { quantile } from "../../../../bench/measure/quantile.ts";
import type { KindReport, PhaseReport } from "./load-job.ts";

/** Counts of all kinds together; `kinds` has those of each kind. */
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

/** @throws Error for undefined: the report has fewer phases than expected. */
export function summarize(phase: PhaseReport | undefined): PhaseSummary {
  if (!phase) throw new Error("The load has no such phase");
  const reports = Object.values(phase.kinds);
  const sumOf = (member: "sent" | "good" | "late" | "rejected" | "limited" | "failed") =>
    reports.reduce((sum, report) => sum + report[member], 0);
  const good = sumOf("good");
  const late = sumOf("late");
  const served = good + late;
  const latenciesMs = reports.flatMap((report) => report.latenciesMs);
  return {
    kinds: phase.kinds,
    sent: sumOf("sent"),
    good,
    late,
    rejected: sumOf("rejected"),
    limited: sumOf("limited"),
    failed: sumOf("failed"),
    served,
    perSecond: served / phase.seconds,
    goodPerSecond: good / phase.seconds,
    cpuSeconds: phase.cpuSeconds,
    p99Ms: quantile(latenciesMs, 0.99),
  };
}

/** A line for the phase, with the CPU time of the tested process and the lag of the load process, and one for each kind of request. */
export function describePhase({ name, seconds, lagMs, cpuSeconds, kinds }: PhaseReport): string {
  const cpuPercent = ((100 * cpuSeconds) / seconds).toFixed(0);
  const phaseLine = `${name}, ${seconds} s, ${cpuPercent} % CPU, lag ${lagMs.toFixed(1)} ms`;
  const kindLines = Object.entries(kinds).map(([kind, report]) => describeKind(kind, report, seconds));
  return [phaseLine, ...kindLines].join("\n      ");
}

function describeKind(kind: string, report: KindReport, seconds: number): string {
  const goodPerSecond = (report.good / seconds).toFixed(0);
  const sentPerSecond = (report.sent / seconds).toFixed(0);
  const goodPercent = ((100 * report.good) / Math.max(report.sent, 1)).toFixed(1);
  const others = [
    `late ${report.late}`,
    `rejected ${report.rejected}`,
    `limited ${report.limited}`,
    `failed ${report.failed}`,
  ].join(", ");
  const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => quantile(report.latenciesMs, share).toFixed(1));
  const latencies = `p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms`;
  return `  ${kind}: ${goodPerSecond} of ${sentPerSecond}/s in time (${goodPercent} %), ${others}, ${latencies}`;
}
