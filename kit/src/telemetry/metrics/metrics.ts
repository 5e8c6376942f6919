import type { MetricDeclarations } from "./declarations/metric-declaration.ts";

/** From code, schema or configuration, or mapped by `KnownValues`; never the text that a client sent. */
export type Labels<L extends string> = Readonly<Record<L, string | number>>;

/** Code that runs per request keeps it, to skip the lookup of labels. */
export interface CounterSeries {
  /** @param by never negative; 1 if it is missing. */
  add(by?: number): void;
}

export interface Counter<L extends string> {
  add(labels: Labels<L>, by?: number): void;
  of(labels: Labels<L>): CounterSeries;
}

export interface Gauge<L extends string> {
  set(labels: Labels<L>, value: number): void;
  /** At each scrape, after the gauge's series are removed (announced ones are 0). A later call replaces `read`. */
  onScrape(read: (gauge: Gauge<L>) => void): void;
}

export interface HistogramSeries {
  /** @param value in the unit of the metric's name. */
  observe(value: number): void;
}

export interface Histogram<L extends string> {
  observe(labels: Labels<L>, value: number): void;
  of(labels: Labels<L>): HistogramSeries;
}

type NamesOf<D extends MetricDeclarations, Kind extends string> = {
  [Name in keyof D]: D[Name]["kind"] extends Kind ? Name : never;
}[keyof D];

export interface MissingZeros {
  readonly metric: string;
  readonly count: number;
}

/** Look metrics up once, not per event. */
export interface Metrics<D extends MetricDeclarations> {
  /** False: nothing is counted, and callers can skip the computation of values. */
  readonly isOn: boolean;
  counter<N extends NamesOf<D, "counter">>(name: N): Counter<D[N]["labels"][number]>;
  gauge<N extends NamesOf<D, "gauge">>(name: N): Gauge<D[N]["labels"][number]>;
  histogram<N extends NamesOf<D, "histogram">>(name: N): Histogram<D[N]["labels"][number]>;
  /** Exports 0 for these label values and the `expected` ones, since the rate of a counter misses the event that creates its series. */
  announce(labels: Labels<string>): void;
  /** From every counter and histogram with these labels. A `CounterSeries` of them counts nothing from now on: look it up again. */
  remove(labels: Labels<string>): void;
  /** A metric has at most 1,000 series without events. Empty when off. */
  listMissingZeros(): readonly MissingZeros[];
  /** In Prometheus' text format 0.0.4; empty when off. */
  write(): Promise<string>;
}

const doNothing = () => {};

export function createNoMetrics<D extends MetricDeclarations>(): Metrics<D> {
  const counter = { add: doNothing, of: () => ({ add: doNothing }) };
  const gauge = { set: doNothing, onScrape: doNothing };
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
