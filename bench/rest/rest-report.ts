import { cpuMicrosecondsPerRequest } from "../measure/proc.ts";
import { median } from "../measure/quantile.ts";
import { printTable } from "../report/markdown.ts";
import { type RestContender, type RestContenderName, restContenders } from "./rest-contenders.ts";
import type { RestReport } from "./rest-load.ts";
import { type RestWorkloadName, restWorkloads } from "./rest-workloads.ts";

export interface RestMeasurement {
  readonly contender: RestContenderName;
  readonly workload: RestWorkloadName;
  readonly report: RestReport;
}

interface RestTarget {
  readonly title: string;
  readonly numerator: readonly [RestContenderName, RestWorkloadName];
  readonly denominator: readonly [RestContenderName, RestWorkloadName];
  readonly max: number;
}

const targets: readonly RestTarget[] = [
  {
    title: "cache hit ÷ empty `node:http` handler",
    numerator: ["ours", "hit"],
    denominator: ["empty-handler", "hit"],
    max: 1.15,
  },
  { title: "cache hit ÷ nginx's cache hit", numerator: ["ours", "hit"], denominator: ["nginx-cache", "hit"], max: 2 },
  {
    title: "pass-through ÷ `@fastify/http-proxy`",
    numerator: ["ours", "pass"],
    denominator: ["fastify", "pass"],
    max: 1.05,
  },
  {
    title: "posts service: 304 ÷ full response",
    numerator: ["service", "service-not-modified"],
    denominator: ["service", "service"],
    max: 0.5,
  },
];

/** Prints the target ratios, each the median of the rounds' ratios, then one table per workload with the medians of the rounds. */
export function printRestReport(measurements: readonly RestMeasurement[]): string {
  return [
    printTargets(measurements),
    ...restWorkloads.map(({ name, title }) => printWorkloadTable(name, title, measurements)),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

function printTargets(measurements: readonly RestMeasurement[]): string {
  const rows = targets.flatMap(({ title, numerator, denominator, max }) => {
    const divisors = listCpuMicroseconds(measurements, ...denominator);
    const ratios = listCpuMicroseconds(measurements, ...numerator).map(
      (cpu, round) => cpu / (divisors[round] ?? Number.NaN),
    );
    if (ratios.length === 0 || divisors.length !== ratios.length) return [];
    const ratio = median(ratios);
    return [[title, `${ratio.toFixed(2)}× ${ratio <= max ? "✓" : "✗"}`, `≤ ${max}×`]];
  });
  return rows.length === 0 ? "" : printTable(["CPU per request", "measured", "target"], rows);
}

function printWorkloadTable(
  workload: RestWorkloadName,
  title: string,
  measurements: readonly RestMeasurement[],
): string {
  const rows = restContenders.flatMap((contender) =>
    toRow(contender, selectReports(measurements, contender.name, workload)),
  );
  const head = [title, "CPU µs per request", "requests/s", "p50 ms", "p99 ms", "RSS MB", "others"];
  return rows.length === 0 ? "" : printTable(head, rows);
}

function toRow({ title }: RestContender, reports: readonly RestReport[]): readonly (readonly string[])[] {
  if (reports.length === 0) return [];
  const medianOf = (read: (report: RestReport) => number) => median(reports.map(read));
  return [
    [
      title,
      medianOf(cpuMicrosecondsPerRequest).toFixed(1),
      medianOf(({ requests, seconds }) => requests / seconds).toFixed(0),
      medianOf(({ p50Ms }) => p50Ms).toFixed(2),
      medianOf(({ p99Ms }) => p99Ms).toFixed(2),
      (medianOf(({ rssBytes }) => rssBytes) / 1e6).toFixed(0),
      `${(Math.max(...reports.map(({ otherCpuShare }) => otherCpuShare)) * 100).toFixed(0)} %`,
    ],
  ];
}

/** CPU per request of each round, in order. */
function listCpuMicroseconds(
  measurements: readonly RestMeasurement[],
  contender: RestContenderName,
  workload: RestWorkloadName,
): readonly number[] {
  return selectReports(measurements, contender, workload).map(cpuMicrosecondsPerRequest);
}

function selectReports(
  measurements: readonly RestMeasurement[],
  contender: RestContenderName,
  workload: RestWorkloadName,
) {
  return measurements
    .filter((measurement) => measurement.contender === contender && measurement.workload === workload)
    .map(({ report }) => report);
}
