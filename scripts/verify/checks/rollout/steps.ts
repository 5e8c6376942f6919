// The steps of rollout.ts, and the table in which they are printed.
import { type Stream, streams, type TrafficReport } from "../../traffic/traffic.ts";

/** One restart, kill or address change, and the report of the requests that were due during it. */
export interface RestartStep {
  readonly kind: "baseline" | "restarted" | "moved" | "killed" | "frozen";
  readonly name: string;
  readonly report: TrafficReport;
  /** The exit code of a process that received SIGTERM; null if a signal ended it, and for the steps `baseline`, `killed` and `frozen`. */
  readonly exitCode: number | null;
  /** The number of writes that were in flight when the process was killed. */
  readonly writesInFlight: number;
  /** For a frozen process: the time from SIGSTOP until its container was restarted and ready. */
  readonly recoveredMs?: number;
}

const nameChars = 16;
const columnChars = 11;
const failuresShownMax = 6;

/** The first line of the table. */
export const stepsHead = toLine("part", "step", ["requests", "failed", "longest ms", "in flight"]);

/** A line of the table, and one for each kind of failure. */
export function describeStep({ name, kind, report, writesInFlight }: RestartStep): string {
  const cells = [
    countRequests(report).toLocaleString("en"),
    String(countFailures(report)),
    longestMs(report).toFixed(0),
  ];
  if (kind === "killed") cells.push(String(writesInFlight));
  const failureLines = streams.flatMap((stream) => describeFailures(stream, report));
  return [toLine(name, kind, cells), ...failureLines.slice(0, failuresShownMax)].join("\n");
}

function describeFailures(stream: Stream, report: TrafficReport): readonly string[] {
  return [...report[stream].failures].map(([failure, times]) => `  ${times}× ${stream}: ${failure}`);
}

export function countRequests(report: TrafficReport): number {
  return sum(streams.map((stream) => report[stream].count));
}

export function countFailures(report: TrafficReport, countedStreams: readonly Stream[] = streams): number {
  return sum(countedStreams.flatMap((stream) => [...report[stream].failures.values()]));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function longestMs(report: TrafficReport): number {
  return Math.max(...streams.map((stream) => report[stream].latenciesMs.at(-1) ?? 0));
}

function toLine(name: string, kind: string, cells: readonly string[]): string {
  const columns = cells.map((cell) => cell.padStart(columnChars));
  return `${name.padEnd(nameChars)}${kind.padEnd(columnChars)}${columns.join("")}`;
}
