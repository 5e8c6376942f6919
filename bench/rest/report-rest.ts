import { median } from "../measure/median.ts";
import { printTable } from "../report/markdown.ts";
import { type RestContender, type RestContenderName, restContenders } from "./contenders.ts";
import type { RestReport } from "./load.ts";
import { type RestWorkloadName, restWorkloads } from "./workloads.ts";

export interface RestMeasured {
  readonly contender: RestContenderName;
  readonly workload: RestWorkloadName;
  readonly report: RestReport;
}

interface RestTarget {
  readonly title: string;
  /** Divided by the other's CPU per request. */
  readonly one: readonly [RestContenderName, RestWorkloadName];
  readonly other: readonly [RestContenderName, RestWorkloadName];
  readonly max: number;
}

const targets: readonly RestTarget[] = [
  { title: "a hit beside an empty `node:http` handler", one: ["ours", "hit"], other: ["floor", "hit"], max: 1.15 },
  { title: "a hit beside nginx's", one: ["ours", "hit"], other: ["nginx-cache", "hit"], max: 2 },
  { title: "pass-through beside `@fastify/http-proxy`", one: ["ours", "pass"], other: ["fastify", "pass"], max: 1.05 },
  {
    title: "a 304 at the service beside its full answer",
    one: ["service", "service-not-modified"],
    other: ["service", "service"],
    max: 0.5,
  },
];

/** The promised ratios, each the median of the rounds' ratios; then the figures of each workload, medians over the rounds. */
export function printRestReport(measured: readonly RestMeasured[]): string {
  return [printTargets(measured), ...restWorkloads.map(({ name, title }) => printFigures(name, title, measured))]
    .filter((text) => text !== "")
    .join("\n\n");
}

function printTargets(measured: readonly RestMeasured[]): string {
  const rows = targets.flatMap(({ title, one, other, max }) => {
    const others = cpuMicrosecondsOf(measured, ...other);
    const ratios = cpuMicrosecondsOf(measured, ...one).map((cpu, round) => cpu / (others[round] ?? Number.NaN));
    if (ratios.length === 0 || others.length !== ratios.length) return [];
    const ratio = median(ratios);
    return [[title, `${ratio.toFixed(2)}× ${ratio <= max ? "✓" : "✗"}`, `≤ ${max}×`]];
  });
  return rows.length === 0 ? "" : printTable(["CPU per request", "measured", "target"], rows);
}

function printFigures(workload: RestWorkloadName, title: string, measured: readonly RestMeasured[]): string {
  const rows = restContenders.flatMap((contender) => toRow(contender, reportsOf(measured, contender.name, workload)));
  const head = [title, "CPU µs a request", "requests/s", "p50 ms", "p99 ms", "RSS MB", "others"];
  return rows.length === 0 ? "" : printTable(head, rows);
}

function toRow({ title }: RestContender, reports: readonly RestReport[]): readonly (readonly string[])[] {
  if (reports.length === 0) return [];
  const of = (read: (report: RestReport) => number) => median(reports.map(read));
  return [
    [
      title,
      of(cpuMicroseconds).toFixed(1),
      of(({ requests, seconds }) => requests / seconds).toFixed(0),
      of(({ p50Ms }) => p50Ms).toFixed(2),
      of(({ p99Ms }) => p99Ms).toFixed(2),
      (of(({ rssBytes }) => rssBytes) / 1e6).toFixed(0),
      `${(Math.max(...reports.map(({ neighbours }) => neighbours)) * 100).toFixed(0)} %`,
    ],
  ];
}

/** Of each round, in order. */
function cpuMicrosecondsOf(
  measured: readonly RestMeasured[],
  contender: RestContenderName,
  workload: RestWorkloadName,
): readonly number[] {
  return reportsOf(measured, contender, workload).map(cpuMicroseconds);
}

function reportsOf(measured: readonly RestMeasured[], contender: RestContenderName, workload: RestWorkloadName) {
  return measured.filter((one) => one.contender === contender && one.workload === workload).map(({ report }) => report);
}

export function cpuMicroseconds({ cpuSeconds, requests }: RestReport): number {
  return (cpuSeconds / requests) * 1e6;
}
