// The steps of rollout.ts, and how they are printed.
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

const failuresShownMax = 6;

/** One line, and one for each kind of failure. */
export function describeStep({ name, kind, report, writesInFlight }: RestartStep): string {
  const longestMs = Math.max(...streams.map((stream) => report[stream].latenciesMs.at(-1) ?? 0));
  const inFlight = kind === "killed" ? `, ${writesInFlight} writes in flight` : "";
  const failures = streams.flatMap((stream) =>
    [...report[stream].failures].map(([failure, times]) => `  ${times}× ${stream}: ${failure}`),
  );
  const counts = `${countRequests(report)} requests, ${countFailures(report)} failed, longest ${longestMs.toFixed(0)} ms`;
  return [`${name} ${kind}: ${counts}${inFlight}`, ...failures.slice(0, failuresShownMax)].join("\n");
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
