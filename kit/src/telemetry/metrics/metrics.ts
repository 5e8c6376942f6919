import type { MetricDeclarations } from "./declarations/metric-declaration.ts";

/** The values of a metric's labels: from code, schema or configuration, or mapped by `KnownValues`; never the text that a client sent. */
export type Labels<L extends string> = Readonly<Record<L, string | number>>;

/** One series of a counter: one combination of label values. Code that runs per request keeps it, to skip the lookup of labels. */
export interface CounterSeries {
  /** @param by never negative; 1 if it is missing. */
  add(by?: number): void;
}

export interface Counter<L extends string> {
  /** @param by never negative; 1 if it is missing. */
  add(labels: Labels<L>, by?: number): void;
  of(labels: Labels<L>): CounterSeries;
}

export interface Gauge<L extends string> {
  set(labels: Labels<L>, value: number): void;
  add(labels: Labels<L>, by: number): void;
  /** Sets the gauge at each scrape, after its series are removed (announced ones are set to 0). A gauge has one `read`: a later call replaces it. */
  onScrape(read: (gauge: Gauge<L>) => void): void;
}

/** One series of a histogram: one combination of label values. */
export interface HistogramSeries {
  /** @param value in the unit of the metric's name. */
  observe(value: number): void;
}

export interface Histogram<L extends string> {
  /** @param value in the unit of the metric's name. */
  observe(labels: Labels<L>, value: number): void;
  of(labels: Labels<L>): HistogramSeries;
}

type NamesOf<D extends MetricDeclarations, Kind extends string> = {
  [Name in keyof D]: D[Name]["kind"] extends Kind ? Name : never;
}[keyof D];

/** Announced label sets of a metric that are not exported before their first event. */
export interface MissingZeros {
  readonly metric: string;
  readonly count: number;
}

/** The metrics of one process, by the names of its declarations. Look them up once, not per event. */
export interface Metrics<D extends MetricDeclarations> {
  /** False: nothing is counted. Callers can skip the computation of values. */
  readonly isOn: boolean;
  counter<N extends NamesOf<D, "counter">>(name: N): Counter<D[N]["labels"][number]>;
  gauge<N extends NamesOf<D, "gauge">>(name: N): Gauge<D[N]["labels"][number]>;
  histogram<N extends NamesOf<D, "histogram">>(name: N): Histogram<D[N]["labels"][number]>;
  /**
   * Exports 0 from now on for these label values, in every metric with these labels. Other labels take the values that the metric's declaration lists
   * as `expected`. The rate of a counter misses the event that creates its series, so label values that are known before the first event are
   * announced.
   */
  announce(labels: Labels<string>): void;
  /**
   * Removes the series with these label values from every counter and histogram with these labels. A `CounterSeries` or `HistogramSeries` of them
   * counts nothing from now on: look it up again.
   */
  remove(labels: Labels<string>): void;
  /** Metrics with announced label sets that have no 0, since a metric has at most 1,000 series without events; empty when off. */
  listMissingZeros(): readonly MissingZeros[];
  /** In Prometheus' text format 0.0.4; empty when off. */
  write(): Promise<string>;
}

const doNothing = () => {};

/** For a process without metrics. */
export function createNoMetrics<D extends MetricDeclarations>(): Metrics<D> {
  const counter = { add: doNothing, of: () => ({ add: doNothing }) };
  const gauge = { set: doNothing, add: doNothing, onScrape: doNothing };
  const histogram = { observe: doNothing, of: () => ({ observe: doNothing }) };
  return {
    isOn: false,
    counter: () => counter,
    gauge: () => gauge,
    histogram: () => histogram,
    announce: doNothing,
    remove: doNothing,
    listMissingZeros: () => [],
    write: () => Promise.resolve(""),
  };
}
