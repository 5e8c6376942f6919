import type { MetricDeclaration } from "./declarations/metric-declaration.ts";
import type { CounterSeries, HistogramSeries, Labels } from "./metrics.ts";

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
  /** The first use creates it, and (at zero) the series with the other `expected` values of its labels. */
  of(labels: Labels<string>): Series;
  announce(labels: Labels<string>): void;
  remove(labels: Labels<string>): void;
  /** Since the metric already has `earlySeriesMax` series. */
  countMissingZeros(): number;
}

/** prom-client's counters validate and hash the labels of each addition: 1 µs or more instead of 0.1 µs. */
export function createCounters(name: string, declaration: MetricDeclaration): SeriesTable<CounterSeries> {
  const { help } = declaration;
  const { allSeries, ...table } = createTable(declaration, (labels) => new CountedSeries(labels));
  return {
    ...table,
    name,
    get() {
      const values = allSeries.map(({ labels, value }) => ({ labels, value }));
      return Promise.resolve({ name, help, type: "counter", values });
    },
  };
}

export function createHistograms(name: string, declaration: MetricDeclaration): SeriesTable<HistogramSeries> {
  const { help, buckets = [] } = declaration;
  const { allSeries, ...table } = createTable(declaration, (labels) => new ObservedSeries(labels, buckets));
  return {
    ...table,
    name,
    get() {
      const values = allSeries.flatMap((series) => series.toScrapedValues(name));
      return Promise.resolve({ name, help, type: "histogram", values });
    },
  };
}

/** Per metric; further series are counted together, as `other`. */
const seriesMax = 2_000;
/** Before their first event, so that half of `seriesMax` remains for events. */
const earlySeriesMax = 1_000;

/** Every set with the given values, and one of the expected values of each other label; empty if a label has neither. */
export function completeLabels(
  { labels: labelNames, expected = {} }: Pick<MetricDeclaration, "labels" | "expected">,
  values: Labels<string>,
): readonly Labels<string>[] {
  let labelSets: readonly Labels<string>[] = [{}];
  for (const name of labelNames) {
    const value = values[name];
    const possibleValues = value === undefined ? (expected[name] ?? []) : [value];
    labelSets = labelSets.flatMap((labels) => possibleValues.map((possible) => ({ ...labels, [name]: possible })));
  }
  return labelSets;
}

/** One level per label: a text key would have to be concatenated and hashed at each addition. */
interface Branch<Series> {
  readonly byValue: Map<string | number | undefined, Branch<Series>>;
  series: Series | undefined;
}

interface LabelledSeries {
  readonly labels: Labels<string>;
}

function createTable<Series extends LabelledSeries>(
  declaration: MetricDeclaration,
  createSeries: (labels: Labels<string>) => Series,
) {
  const { labels: labelNames, expected = {} } = declaration;
  const allSeries: Series[] = [];
  let root = createBranch<Series>();
  /** As JSON. Code, schema and configuration bound their number. */
  const missingZeros = new Set<string>();
  const otherLabels = Object.fromEntries(labelNames.map((name) => [name, "other"]));

  function find(labels: Labels<string>): Series | undefined {
    let branch: Branch<Series> | undefined = root;
    for (const name of labelNames) branch = branch?.byValue.get(labels[name]);
    return branch?.series;
  }

  function of(labels: Labels<string>): Series {
    return find(labels) ?? add(labels);
  }

  function add(labels: Labels<string>): Series {
    const isFull = allSeries.length >= seriesMax;
    // The series of `otherLabels` is created even if the table is full.
    if (isFull && labelNames.some((name) => labels[name] !== "other")) return of(otherLabels);
    const series = getOrInsert(labels);
    // At zero, so that rates see their first event.
    const labelsWithoutExpected = Object.entries(labels).filter(([name]) => expected[name] === undefined);
    announce(Object.fromEntries(labelsWithoutExpected));
    return series;
  }

  function getOrInsert(labels: Labels<string>): Series {
    const branch = branchOf(labels);
    return branch.series ?? insert(branch, createSeries({ ...labels }));
  }

  function branchOf(labels: Labels<string>): Branch<Series> {
    let branch = root;
    for (const name of labelNames) branch = getOrAddBranch(branch, labels[name]);
    return branch;
  }

  function insert(branch: Branch<Series>, series: Series): Series {
    branch.series = series;
    allSeries.push(series);
    return series;
  }

  /** Builds the tree again, so that no branch of a removed series remains. */
  function remove(values: Labels<string>): void {
    const valuesByName = Object.entries(values);
    if (!valuesByName.every(([name]) => labelNames.includes(name))) return;
    const isRemoved = (labels: Labels<string>) => valuesByName.every(([name, value]) => labels[name] === value);
    const remaining = allSeries.filter(({ labels }) => !isRemoved(labels));
    allSeries.length = 0;
    root = createBranch();
    for (const series of remaining) insert(branchOf(series.labels), series);
    for (const json of missingZeros) {
      if (isRemoved(JSON.parse(json) as Labels<string>)) missingZeros.delete(json);
    }
  }

  function announce(values: Labels<string>): void {
    for (const labels of completeLabels(declaration, values)) {
      if (allSeries.length < earlySeriesMax) getOrInsert(labels);
      else if (find(labels) === undefined) missingZeros.add(JSON.stringify(labels));
    }
  }

  announce({});
  return { of, announce, remove, countMissingZeros: () => missingZeros.size, allSeries };
}

function createBranch<Series>(): Branch<Series> {
  return { byValue: new Map(), series: undefined };
}

/** A number and its decimal text are the same label value: both are keys, so that a lookup needs no conversion. */
function getOrAddBranch<Series>({ byValue }: Branch<Series>, value: string | number | undefined): Branch<Series> {
  const text = String(value);
  const branch = byValue.get(text) ?? createBranch<Series>();
  byValue.set(text, branch).set(value, branch);
  return branch;
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
  readonly labels: Labels<string>;
  readonly #bounds: readonly number[];
  /** Per bucket, not cumulative; the last one has no upper bound. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Labels<string>, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** Cumulative. */
  toScrapedValues(name: string): readonly ScrapedValue[] {
    const { labels } = this;
    let cumulativeCount = 0;
    const buckets = this.#counts.map((bucketCount, bucket) => {
      cumulativeCount += bucketCount;
      const upperBound = this.#bounds[bucket] ?? "+Inf";
      return { metricName: `${name}_bucket`, labels: { le: upperBound, ...labels }, value: cumulativeCount };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: cumulativeCount },
    ];
  }
}
