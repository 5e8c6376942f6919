import { type QueryPrometheus, type QueryTimes, type Series, UsageError } from "./prometheus.ts";
import type { UsageEvidence, Use } from "./usage.ts";

/** A deprecated element, with the labels of its counters. */
export interface CountedElement {
  readonly element: string;
  readonly owners: readonly string[];
  readonly deprecation: string;
  readonly source: CounterSource;
  readonly labels: Readonly<Record<string, string>>;
}

interface CounterSource {
  readonly process: string;
  /** Each process has it at all times. */
  readonly gauge: string;
  readonly metric: string;
  /** Its labels, without `client` and `verified`. */
  readonly labelNames: readonly string[];
}

export const graphqlCounts: CounterSource = {
  process: "gateway",
  gauge: "tributary_gateway_requests_in_flight",
  metric: "tributary_gateway_deprecated_requests_total",
  labelNames: ["element"],
};
export const restCounts: CounterSource = {
  process: "REST proxy",
  gauge: "tributary_rest_requests_in_flight",
  metric: "tributary_rest_old_version_requests_total",
  labelNames: ["version", "method", "route"],
};

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

export interface ReadUsageOptions {
  readonly query: QueryPrometheus;
  readonly elements: readonly CountedElement[];
  readonly days: number;
  readonly nowMs: number;
}

/** @throws UsageError if Prometheus cannot be read, has less than `days`, or a process could not count each element. */
export async function readUsage({ query, elements, days, nowMs }: ReadUsageOptions): Promise<UsageEvidence> {
  const end = Math.floor(nowMs / 1_000);
  const counts = new Map<CounterSource, SourceCounts>();
  for (const source of new Set(elements.map((element) => element.source)))
    counts.set(source, await readCounts(source, { query, days, end }));
  return {
    until: new Date(end * 1_000).toISOString(),
    days,
    elements: elements.map(({ element, owners, deprecation, source, labels }) => {
      const read = counts.get(source);
      const key = keyOf(source, labels);
      const uses = read?.uses.get(key) ?? [];
      return { element, owners: [...owners], deprecation, wholeDays: read?.wholeDays.get(key) ?? 0, uses: [...uses] };
    }),
  };
}

interface SourceCounts {
  /** By `keyOf` the labels. */
  readonly wholeDays: ReadonlyMap<string, number>;
  readonly uses: ReadonlyMap<string, readonly Use[]>;
}

interface SourceQuery extends Pick<ReadUsageOptions, "query" | "days"> {
  /** In seconds since 1970. */
  readonly end: number;
}

async function readCounts(source: CounterSource, { query, days, end }: SourceQuery): Promise<SourceCounts> {
  const { metric, labelNames } = source;
  const labels = labelNames.join(", ");
  const hours: QueryTimes = { start: end - days * daySeconds + hourSeconds, end, step: hourSeconds };
  await requireHistory(source, query, hours);
  const present = await query(`count by (${labels}) (present_over_time(${metric}[1h]))`, hours);
  const wholeDays = new Map(present.map((series) => [keyOf(source, series.labels), countWholeDays(series, hours)]));
  // The first event of a series is no increase: a series that did not exist a day before counts with its value.
  const used = `(max_over_time(${metric}[1d]) unless ${metric} offset 1d) or increase(${metric}[1d])`;
  const dayTimes: QueryTimes = { start: end - (days - 1) * daySeconds, end, step: daySeconds };
  const counted = await query(`sum by (${labels}, client, verified) (${used})`, dayTimes);
  const uses = Map.groupBy(
    counted.filter(({ values }) => [...values.values()].some((value) => value > 0)),
    (series) => keyOf(source, series.labels),
  );
  if (uses.has(keyOf(source, Object.fromEntries(labelNames.map((name) => [name, "other"])))))
    throw new UsageError(
      `A ${source.process} has more than 2,000 series of ${metric}, and counts the others together: nothing is known of single elements. Shorten KNOWN_CLIENTS.`,
    );
  return {
    wholeDays,
    uses: new Map([...uses].map(([key, all]) => [key, all.map((series) => toUse(series, end)).toSorted(byRequests)])),
  };
}

async function requireHistory(
  { process, gauge }: CounterSource,
  query: QueryPrometheus,
  hours: QueryTimes,
): Promise<void> {
  const [present] = await query(`count(present_over_time(${gauge}[1h]))`, hours);
  const days = present ? countWholeDays(present, hours) : 0;
  const hoursAsked = (hours.end - hours.start) / hourSeconds + 1;
  if (days * 24 >= hoursAsked) return;
  const instead = days > 0 ? `Use --days ${days}, or wait` : `Let it scrape each ${process}`;
  throw new UsageError(
    `Prometheus has data of a ${process} for ${days} whole days without a gap up to now, not for ${hoursAsked / 24}. ${instead}.`,
  );
}

/** Days up to the end in each hour of which there is a value. */
function countWholeDays({ values }: Series, { start, end }: QueryTimes): number {
  let hours = 0;
  for (let time = end; time >= start && values.has(time); time -= hourSeconds) hours++;
  return Math.floor(hours / 24);
}

function toUse({ labels, values }: Series, end: number): Use {
  const used = [...values].filter(([, value]) => value > 0);
  const requests = used.reduce((sum, [, value]) => sum + value, 0);
  return {
    client: labels["client"] ?? "",
    verified: labels["verified"] === "true",
    // Prometheus extrapolates: an increase is no whole number.
    requests: Math.max(1, Math.round(requests)),
    daysAgo: (end - Math.max(...used.map(([time]) => time))) / daySeconds,
  };
}

function byRequests(a: Use, b: Use): number {
  return b.requests - a.requests;
}

function keyOf({ labelNames }: CounterSource, labels: Readonly<Record<string, string>>): string {
  return labelNames.map((name) => labels[name]).join(" ");
}
