import type * as Client from "prom-client";
import type { MetricDeclaration, MetricDeclarations } from "./declarations/metric-declaration.ts";
import type { CounterSeries, Gauge as OurGauge, HistogramSeries, Labels, Metrics } from "./metrics.ts";
import { completeLabels, createCounters, createHistograms, type SeriesTable } from "./series.ts";

/** Loads prom-client. All declared metrics are exported from the start, with prom-client's metrics of process and runtime. */
export async function createPrometheus<D extends MetricDeclarations>(declarations: D): Promise<Metrics<D>> {
  const client = await import("prom-client");
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  const metricsByName = new Map(
    Object.entries(declarations).map(([name, declaration]) => [
      name,
      createMetric(client, registry, name, declaration),
    ]),
  );
  const getMetric = (name: keyof D): unknown => {
    const metric = metricsByName.get(String(name));
    if (metric === undefined) throw new Error(`${String(name)} is not declared`);
    return metric;
  };
  return {
    isOn: true,
    counter: (name) => toCounter(getMetric(name) as SeriesTable<CounterSeries>),
    gauge: (name) => getMetric(name) as AnnouncedGauge,
    histogram: (name) => toHistogram(getMetric(name) as SeriesTable<HistogramSeries>),
    announce(labels) {
      for (const metric of metricsByName.values()) metric.announce(labels);
    },
    remove(labels) {
      for (const metric of metricsByName.values()) metric.remove(labels);
    },
    listMissingZeros() {
      const counts = [...metricsByName].map(([name, metric]) => ({ metric: name, count: metric.countMissingZeros() }));
      return counts.filter(({ count }) => count > 0);
    },
    write: () => registry.metrics(),
  };
}

function createMetric(client: typeof Client, registry: Client.Registry, name: string, declaration: MetricDeclaration) {
  const { kind, help, labels } = declaration;
  if (kind === "gauge") {
    const gauge = new client.Gauge({ name, help, labelNames: [...labels], registers: [registry] });
    return createGauge(gauge, declaration);
  }
  const metric = kind === "counter" ? createCounters(name, declaration) : createHistograms(name, declaration);
  // prom-client's types require its own class, but its code only uses `name` and `get`.
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
  /** No gauge has a label whose values are removed. */
  remove(): void;
  countMissingZeros(): number;
}

function createGauge(gauge: Client.Gauge, declaration: MetricDeclaration): AnnouncedGauge {
  /** By their JSON. */
  const announced = new Map<string, Labels<string>>();
  const announcedGauge: AnnouncedGauge = {
    set: (labels, value) => gauge.set(labels, value),
    onScrape(read) {
      // prom-client calls `collect` before it reads the values. A series that `read` does not set is removed.
      Object.assign(gauge, {
        collect() {
          gauge.reset();
          for (const labels of announced.values()) gauge.set(labels, 0);
          read(announcedGauge);
        },
      });
    },
    announce(values) {
      for (const labels of completeLabels(declaration, values)) announced.set(JSON.stringify(labels), labels);
    },
    remove() {},
    countMissingZeros: () => 0,
  };
  return announcedGauge;
}
