import { median } from "../measure/median.ts";
import { printTable } from "../report/markdown.ts";
import type { SideReport } from "./load.ts";
import type { Pair, PairRound } from "./measure-pair.ts";

export interface MeasuredPair extends PairRound {
  readonly pair: Pair;
}

/** What metrics and a hundredth of traces may cost: a tenth. */
const ratioMax = 1.1;

/** The second one's CPU per request, divided by that of the one that ran beside it. */
export function ratioOf({ plain, second }: PairRound): number {
  return cpuMicroseconds(second) / cpuMicroseconds(plain);
}

export function cpuMicroseconds({ cpuSeconds, requests }: SideReport): number {
  return (cpuSeconds / requests) * 1e6;
}

/** A line for each pair: medians over the rounds, and the rounds furthest apart. */
export function printWatching(measured: readonly MeasuredPair[]): string {
  const pairs = [...new Set(measured.map(({ pair }) => pair))];
  const rows = pairs.map((pair) =>
    toRow(
      pair,
      measured.filter((one) => one.pair === pair),
    ),
  );
  return printTable(["", "ratio", "rounds", "CPU µs a request", "beside it", "RSS MB", "beside it"], rows);
}

function toRow({ subject, second }: Pair, rounds: readonly PairRound[]): readonly string[] {
  const ratios = rounds.map(ratioOf);
  const ratio = median(ratios);
  const verdict = second === "observed" ? (ratio <= ratioMax ? " ✓" : " ✗") : "";
  const of = (read: (round: PairRound) => number, digits: number) => median(rounds.map(read)).toFixed(digits);
  return [
    second === "observed" ? `${subject.title}, observed` : `${subject.title}, beside itself`,
    `${ratio.toFixed(2)}×${verdict}`,
    `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    of((round) => cpuMicroseconds(round.second), 1),
    of(({ plain }) => cpuMicroseconds(plain), 1),
    of((round) => round.second.rssBytes / 1e6, 0),
    of(({ plain }) => plain.rssBytes / 1e6, 0),
  ];
}
