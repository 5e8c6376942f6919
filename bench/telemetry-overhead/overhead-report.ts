import { cpuMicrosecondsPerRequest } from "../measure/proc.ts";
import { median } from "../measure/quantile.ts";
import { printTable } from "../report/markdown.ts";
import type { Pair, PairRound } from "./measure-pair.ts";

export interface PairMeasurement extends PairRound {
  readonly pair: Pair;
}

/** Target: telemetry costs at most 10 % more CPU per request. */
const ratioMax = 1.1;

/** CPU per request of the compared process divided by that of the baseline. */
export function toCpuRatio({ baseline, compared }: PairRound): number {
  return cpuMicrosecondsPerRequest(compared) / cpuMicrosecondsPerRequest(baseline);
}

/** Prints one row per pair: the medians of the rounds, and the lowest and highest ratio of a round. */
export function printOverheadReport(measurements: readonly PairMeasurement[]): string {
  const pairs = [...new Set(measurements.map(({ pair }) => pair))];
  const rows = pairs.map((pair) =>
    toRow(
      pair,
      measurements.filter((measurement) => measurement.pair === pair),
    ),
  );
  return printTable(
    ["", "ratio", "ratios of the rounds", "CPU µs per request", "baseline", "RSS MB", "baseline"],
    rows,
  );
}

function toRow({ subject, kind }: Pair, rounds: readonly PairRound[]): readonly string[] {
  const ratios = rounds.map(toCpuRatio);
  const ratio = median(ratios);
  const verdict = kind === "telemetry" ? (ratio <= ratioMax ? " ✓" : " ✗") : "";
  const medianOf = (read: (round: PairRound) => number, digits: number) => median(rounds.map(read)).toFixed(digits);
  return [
    kind === "telemetry" ? `${subject.title}, with telemetry` : `${subject.title}, control`,
    `${ratio.toFixed(2)}×${verdict}`,
    `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    medianOf(({ compared }) => cpuMicrosecondsPerRequest(compared), 1),
    medianOf(({ baseline }) => cpuMicrosecondsPerRequest(baseline), 1),
    medianOf(({ compared }) => compared.rssBytes / 1e6, 0),
    medianOf(({ baseline }) => baseline.rssBytes / 1e6, 0),
  ];
}
