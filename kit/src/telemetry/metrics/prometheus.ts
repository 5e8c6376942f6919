import type * as Client from "prom-client";
import type { MetricDeclaration, MetricDeclarations } from "./metric-declarations.ts";
import type { CounterSeries, Gauge as OurGauge, HistogramSeries, Labels, Metrics } from "./metrics.ts";
import { completeLabels, createCounters, createHistograms, type SeriesTable } from "./series.ts";

/**
 * Metrics that are counted, and written for Prometheus. prom-client is loaded here and not before: a process that nobody scrapes does
 * without it. A declared metric is exported from the start, so that a query for it finds nothing rather than an unknown name.
 */
export async function createPrometheus<D extends MetricDeclarations>(declarations: D): Promise<Metrics<D>> {
  const client = await import("prom-client");
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  const made = new Map(
    Object.entries(declarations).map(([name, declaration]) => [name, make(client, registry, name, declaration)]),
  );
  const get = (name: keyof D): unknown => {
    const metric = made.get(String(name));
    if (metric === undefined) throw new Error(`${String(name)} is not declared`);
    return metric;
  };
  return {
    isOn: true,
    counter: (name) => toCounter(get(name) as SeriesTable<CounterSeries>),
    gauge: (name) => get(name) as AnnouncedGauge,
    histogram: (name) => toHistogram(get(name) as SeriesTable<HistogramSeries>),
    announce(labels) {
      for (const metric of made.values()) metric.announce(labels);
    },
    listMissingZeros: () =>
      Array.from(made, ([metric, { countMissingZeros }]) => ({ metric, count: countMissingZeros() })).filter(
        ({ count }) => count > 0,
      ),
    write: () => registry.metrics(),
  };
}

function make(client: typeof Client, registry: Client.Registry, name: string, declaration: MetricDeclaration) {
  const { kind, help, labels } = declaration;
  if (kind === "gauge") {
    return createGauge(new client.Gauge({ name, help, labelNames: [...labels], registers: [registry] }), declaration);
  }
  const metric = kind === "counter" ? createCounters(name, declaration) : createHistograms(name, declaration);
  // Its types ask for a metric of its own; its code asks for `name` and `get`.
  registry.registerMetric(metric as unknown as Client.Metric);
  return metric;
}

function toCounter({ of }: SeriesTable<CounterSeries>) {
  return { add: (labels: Labels<string>, by = 1) => of(labels).add(by), of };
}

function toHistogram({ of }: SeriesTable<HistogramSeries>) {
  return { observe: (labels: Labels<string>, value: number) => of(labels).observe(value), of };
}

interface AnnouncedGauge extends OurGauge<string> {
  announce(labels: Labels<string>): void;
  countMissingZeros(): number;
}

function createGauge(gauge: Client.Gauge, declaration: MetricDeclaration): AnnouncedGauge {
  const announced = new Map<string, Labels<string>>();
  const ours: AnnouncedGauge = {
    set: (labels, value) => gauge.set(labels, value),
    add: (labels, by) => gauge.inc(labels, by),
    onScrape(read) {
      // prom-client calls it before it reads the values. A value that is not set again is removed, such as the previous supergraph.
      Object.assign(gauge, {
        collect() {
          gauge.reset();
          for (const labels of announced.values()) gauge.set(labels, 0);
          read(ours);
        },
      });
    },
    announce(given) {
      for (const labels of completeLabels(declaration, given)) announced.set(JSON.stringify(labels), labels);
    },
    countMissingZeros: () => 0,
  };
  return ours;
}
