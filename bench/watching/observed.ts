/** What turns metrics on, and traces of one request in a hundred, which is what a process does by itself once it knows a collector. */
export function toObserved(collectorUrl: string): Readonly<Record<string, string>> {
  return { ADMIN_PORT: "0", OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl, OTEL_TRACES_SAMPLER_ARG: "0.01" };
}
