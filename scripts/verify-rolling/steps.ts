import type { Audit } from "../journey/audit.ts";
import { type Stream, streams, type TrafficReport } from "../journey/traffic.ts";

/** What happened to one process, and to the requests meanwhile. */
export interface Step {
  readonly kind: "calm" | "restarted" | "moved" | "killed" | "frozen";
  readonly name: string;
  readonly report: TrafficReport;
  /** Of a process that was told to end; null when it was killed. */
  readonly exitCode: number | null;
  /** Writes that were under way when the process was killed. */
  readonly writesHeld: number;
  /** Of a frozen process: from its SIGSTOP until its container was restarted and ready. */
  readonly recoveredMs?: number;
}

export interface Outcome {
  readonly steps: readonly Step[];
  readonly audit: Audit;
}

const nameChars = 16;
const columnChars = 11;
const failuresToldMax = 6;

export const stepsHead = toLine("part", "what", ["requests", "failed", "longest ms", "held"]);

/** A line of the table, and one for each way in which something failed. */
export function describeStep({ name, kind, report, writesHeld }: Step): string {
  const cells = [countRequests(report).toLocaleString("en"), String(countFailures(report)), longest(report).toFixed(0)];
  const failures = streams.flatMap((stream) =>
    [...report[stream].failures].map(([what, times]) => `  ${times}× ${stream}: ${what}`),
  );
  const held = kind === "killed" ? [String(writesHeld)] : [];
  return [toLine(name, kind, [...cells, ...held]), ...failures.slice(0, failuresToldMax)].join("\n");
}

export function countRequests(report: TrafficReport): number {
  return sum(streams.map((stream) => report[stream].count));
}

export function countFailures(report: TrafficReport, of: readonly Stream[] = streams): number {
  return sum(of.flatMap((stream) => [...report[stream].failures.values()]));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function longest(report: TrafficReport): number {
  return Math.max(...streams.map((stream) => report[stream].latenciesMs.at(-1) ?? 0));
}

function toLine(name: string, kind: string, cells: readonly string[]): string {
  return `${name.padEnd(nameChars)}${kind.padEnd(columnChars)}${cells.map((cell) => cell.padStart(columnChars)).join("")}`;
}
