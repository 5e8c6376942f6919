import { codes } from "../../gateway/src/errors/codes.ts";
import { statusOf } from "../../kit/src/errors/app-error.ts";
import { metricsOf } from "../../kit/src/telemetry/metrics/metric-declarations.ts";
import { recordings } from "./files.ts";
import type { Exposition } from "./exposition.ts";
import { seriesOf } from "./exposition.ts";
import type { Matcher } from "./promql.ts";

/** What is known of a series that may be asked for. */
export interface KnownSeries {
  readonly labels: ReadonlySet<string>;
  /** Whether a label ever has this value. */
  hasValue(label: string, value: string): boolean;
  /** Whether a running process has counted it, and not only said that it would. */
  readonly isCounted: boolean;
}

/** What no process of ours shows: by the documentation of CloudNativePG 1.29 (default queries) and of Kubernetes' kubelet. */
const ofOthers: Readonly<Record<string, readonly string[]>> = {
  cnpg_pg_replication_streaming_replicas: ["job", "instance"],
  cnpg_pg_replication_in_recovery: ["job", "instance"],
  kubelet_volume_stats_available_bytes: ["job", "instance", "namespace", "persistentvolumeclaim"],
  kubelet_volume_stats_capacity_bytes: ["job", "instance", "namespace", "persistentvolumeclaim"],
};

const units = new Set(["users", "posts", "comments", "orders", "gateway", "rest-proxy"]);
const declarations = Object.assign({}, ...Object.values(metricsOf)) as Readonly<
  Record<string, { readonly help: string; readonly labels: readonly string[] }>
>;

/** Every series there is: of processes, by what each shows; of Prometheus itself; and of our own recording. */
export function listKnownSeries(expositions: readonly Exposition[]): ReadonlyMap<string, KnownSeries> {
  const known = new Map<string, KnownSeries>();
  for (const { types } of expositions)
    for (const [name, type] of types)
      for (const series of seriesOf(name, type)) known.set(series, describe(series, name, expositions));
  known.set("up", {
    labels: new Set(["job", "instance"]),
    hasValue: (label, value) => isOfScrape(label, value),
    isCounted: true,
  });
  for (const [metric, labels] of Object.entries(ofOthers)) {
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
  const ofSamples = samples.flatMap((sample) => Object.keys(sample));
  const labels = [...ofSamples, ...(declared?.labels ?? []), ...(series.endsWith("_bucket") ? ["le"] : [])];
  return {
    labels: new Set(["job", "instance", ...labels]),
    isCounted: samples.length > 0,
    hasValue: (label, value) =>
      isOfScrape(label, value) ||
      isCode(label, value) ||
      samples.some((sample) => sample[label] === value) ||
      // A declaration says its labels' values where they are few.
      (label !== "le" && new RegExp(`(?<![\\w-])${value}(?![\\w-])`).test(declared?.help ?? "")),
  };
}

function describeRecording(record: string): KnownSeries {
  const labels = recordings.filter((rule) => rule.record === record).map((rule) => rule.labels ?? {});
  return {
    labels: new Set(labels.flatMap((of) => Object.keys(of))),
    isCounted: true,
    hasValue: (label, value) => labels.some((of) => of[label] === value),
  };
}

/** What our processes say for a reason, whether or not they were given one. */
const isCode = (label: string, value: string) =>
  (label === "code" || label === "outcome") && (Object.hasOwn(codes, value) || Object.hasOwn(statusOf, value));
const isOfScrape = (label: string, value: string) => label === "job" && units.has(value);

/** The values that a matcher names one by one: not those of a dashboard's variable, nor whole classes such as `5..`. */
export function valuesOf({ op, value }: Matcher): readonly string[] {
  const values = op.endsWith("~") ? value.split("|") : [value];
  return values.filter((one) => !one.startsWith("$") && !/^[1-5](\.\.|\d\d)$/.test(one));
}
