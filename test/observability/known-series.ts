import { serviceNames } from "../services.ts";
import { codes } from "../../gateway/src/errors/codes.ts";
import { statusOf } from "../../kit/src/errors/app-error.ts";
import { metricsOf } from "../../kit/src/telemetry/metrics/declarations/metrics-of-processes.ts";
import { recordings } from "./files.ts";
import type { Exposition } from "./exposition.ts";
import { seriesOf } from "./exposition.ts";
import type { Matcher } from "./promql.ts";

/** The labels and values of a series that queries may select. */
export interface KnownSeries {
  readonly labels: ReadonlySet<string>;
  /** True if the label can have this value. */
  hasValue(label: string, value: string): boolean;
  /** True if a running process exports a sample, not only the `# TYPE` line. */
  readonly isCounted: boolean;
}

/** Metrics of CloudNativePG 1.29 (default queries) and of the kubelet, from their documentation. */
const externalMetrics: Readonly<Record<string, readonly string[]>> = {
  cnpg_pg_replication_streaming_replicas: ["job", "instance"],
  cnpg_pg_replication_in_recovery: ["job", "instance"],
  cnpg_pg_stat_archiver_last_archived_time: ["job", "instance"],
  cnpg_pg_stat_archiver_last_failed_time: ["job", "instance"],
  kubelet_volume_stats_available_bytes: ["job", "instance", "namespace", "persistentvolumeclaim"],
  kubelet_volume_stats_capacity_bytes: ["job", "instance", "namespace", "persistentvolumeclaim"],
};

const units = new Set([...serviceNames, "gateway", "rest-proxy", "purger"]);
const declarations = Object.assign({}, ...Object.values(metricsOf)) as Readonly<
  Record<string, { readonly help: string; readonly labels: readonly string[] }>
>;

/** All series: those that the processes export, those of Prometheus and external exporters, and the recorded ones. */
export function listKnownSeries(expositions: readonly Exposition[]): ReadonlyMap<string, KnownSeries> {
  const known = new Map<string, KnownSeries>();
  for (const { types } of expositions)
    for (const [name, type] of types)
      for (const series of seriesOf(name, type)) known.set(series, describe(series, name, expositions));
  known.set("up", {
    labels: new Set(["job", "instance"]),
    hasValue: (label, value) => isScrapeLabel(label, value),
    isCounted: true,
  });
  for (const [metric, labels] of Object.entries(externalMetrics)) {
    known.set(metric, { labels: new Set(labels), hasValue: () => true, isCounted: true });
  }
  for (const { record } of recordings) known.set(record, describeRecording(record));
  return known;
}

function describe(series: string, name: string, expositions: readonly Exposition[]): KnownSeries {
  const samples = expositions.flatMap((exposition) =>
    exposition.samples.filter((sample) => sample.name === series).map((sample) => sample.labels),
  );
  const declared = declarations[name];
  const sampleLabels = samples.flatMap((sample) => Object.keys(sample));
  const labels = [...sampleLabels, ...(declared?.labels ?? []), ...(series.endsWith("_bucket") ? ["le"] : [])];
  return {
    labels: new Set(["job", "instance", ...labels]),
    isCounted: samples.length > 0,
    hasValue: (label, value) =>
      isScrapeLabel(label, value) ||
      isCode(label, value) ||
      samples.some((sample) => sample[label] === value) ||
      // The help text lists a label's values if they are few.
      (label !== "le" && new RegExp(`(?<![\\w-])${value}(?![\\w-])`).test(declared?.help ?? "")),
  };
}

function describeRecording(record: string): KnownSeries {
  const labels = recordings.filter((rule) => rule.record === record).map((rule) => rule.labels ?? {});
  return {
    labels: new Set(labels.flatMap((set) => Object.keys(set))),
    isCounted: true,
    hasValue: (label, value) => labels.some((set) => set[label] === value),
  };
}

/** True for an error code in a label, even if the test's requests do not cause it. */
const isCode = (label: string, value: string) =>
  (label === "code" || label === "outcome") && (Object.hasOwn(codes, value) || Object.hasOwn(statusOf, value));
const isScrapeLabel = (label: string, value: string) => label === "job" && units.has(value);

/** The literal values of a matcher, without a dashboard's variables and status classes such as `5..`. */
export function valuesToCheck({ op, value }: Matcher): readonly string[] {
  const values = op.endsWith("~") ? value.split("|") : [value];
  return values.filter((one) => !one.startsWith("$") && !/^[1-5](\.\.|\d\d)$/.test(one));
}
