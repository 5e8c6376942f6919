import type { MetricDeclaration } from "./metric-declarations.ts";
import type { CounterSeries, HistogramSeries, Labels } from "./metrics.ts";

/** A metric as prom-client's registry reads it at a scrape. */
export interface ScrapedMetric {
  readonly name: string;
  get(): Promise<{ name: string; help: string; type: string; values: readonly ScrapedValue[] }>;
}

interface ScrapedValue {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export interface SeriesTable<Series> extends ScrapedMetric {
  /** The one with these labels, made when it is first asked for. */
  of(labels: Labels<string>): Series;
}

/** prom-client checks and hashes the labels of each addition, which takes a microsecond or more; these take a tenth of one. */
export function createCounters(name: string, { help, labels: names }: MetricDeclaration): SeriesTable<CounterSeries> {
  const table = createTable(names, (labels) => new CountedSeries(labels));
  const values = () => table.list().map(({ labels, value }) => ({ labels, value }));
  return { name, of: table.of, get: () => Promise.resolve({ name, help, type: "counter", values: values() }) };
}

export function createHistograms(
  name: string,
  { help, labels: names, buckets = [] }: MetricDeclaration,
): SeriesTable<HistogramSeries> {
  const table = createTable(names, (labels) => new ObservedSeries(labels, buckets));
  const values = () => table.list().flatMap((series) => series.write(name));
  return { name, of: table.of, get: () => Promise.resolve({ name, help, type: "histogram", values: values() }) };
}

/** Of one metric. Labels have few values by the rule; should one not, what it makes beyond this is counted together, as `other`. */
const seriesMax = 2_000;

function createTable<Series>(names: readonly string[], make: (labels: Labels<string>) => Series) {
  const byKey = new Map<string, Series>();
  const others = Object.fromEntries(names.map((name) => [name, "other"]));
  function of(labels: Labels<string>): Series {
    let key = "";
    // No value of ours holds a line break.
    for (const name of names) key += `${labels[name]}\n`;
    const known = byKey.get(key);
    if (known !== undefined) return known;
    if (byKey.size >= seriesMax && names.some((name) => labels[name] !== "other")) return of(others);
    const made = make({ ...labels });
    byKey.set(key, made);
    return made;
  }
  // What has no labels is there from the start.
  if (names.length === 0) of({});
  return { of, list: () => [...byKey.values()] };
}

class CountedSeries implements CounterSeries {
  readonly labels: Labels<string>;
  value = 0;

  constructor(labels: Labels<string>) {
    this.labels = labels;
  }

  add(by = 1): void {
    this.value += by;
  }
}

class ObservedSeries implements HistogramSeries {
  readonly #labels: Labels<string>;
  readonly #bounds: readonly number[];
  /** In each bucket alone; the last one is for what is above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Labels<string>, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  write(name: string): readonly ScrapedValue[] {
    const labels = this.#labels;
    let count = 0;
    const buckets = this.#counts.map((inBucket, at) => {
      count += inBucket;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? "+Inf", ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
