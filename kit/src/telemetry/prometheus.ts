import type * as Client from "prom-client";
import type { MetricDeclaration, MetricDeclarations } from "./metric-declarations.ts";
import type { Gauge as OurGauge, Labels, Metrics } from "./metrics.ts";

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
    counter: (name) => toCounter(get(name) as Client.Counter),
    gauge: (name) => toGauge(get(name) as Client.Gauge),
    histogram: (name) => toHistogram(get(name) as Client.Histogram),
    write: () => registry.metrics(),
  };
}

function make(
  client: typeof Client,
  registry: Client.Registry,
  name: string,
  { kind, help, labels, buckets }: MetricDeclaration,
) {
  const o = { name, help, labelNames: [...labels], registers: [registry] };
  if (kind === "counter") return new client.Counter(o);
  if (kind === "gauge") return new client.Gauge(o);
  return new client.Histogram({ ...o, ...(buckets ? { buckets: [...buckets] } : {}) });
}

function toCounter(counter: Client.Counter) {
  return { add: (labels: Labels<string>, by = 1) => counter.inc(labels, by) };
}

function toHistogram(histogram: Client.Histogram) {
  return { observe: (labels: Labels<string>, value: number) => histogram.observe(labels, value) };
}

function toGauge(gauge: Client.Gauge): OurGauge<string> {
  const ours: OurGauge<string> = {
    set: (labels, value) => gauge.set(labels, value),
    add: (labels, by) => gauge.inc(labels, by),
    onScrape(read) {
      // prom-client calls it before it reads the values. What is not said again is gone, such as the supergraph before.
      Object.assign(gauge, {
        collect() {
          gauge.reset();
          read(ours);
        },
      });
    },
  };
  return ours;
}
