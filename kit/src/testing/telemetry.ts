import { Writable } from "node:stream";
import { createLog, type Log } from "../process/log.ts";
import { metricsOf } from "../telemetry/metrics/metric-declarations.ts";
import { createPrometheus } from "../telemetry/metrics/prometheus.ts";
import { createRequestRecords, recordFields } from "../telemetry/request-record.ts";
import { createServiceObserver, type ServiceObserver } from "../telemetry/service-observer.ts";
import { type AroundStatement, createStatementObserver } from "../telemetry/statement-observer.ts";
import type { SpanCollector } from "./trace.ts";

/** What a service in a test's own process counts, traces and logs. */
export interface TestTelemetry {
  readonly log: Log;
  readonly observer: ServiceObserver;
  readonly aroundStatement: AroundStatement;
  /** The log lines so far, of every level; each request has one. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  /** In Prometheus' text format. */
  writeMetrics(): Promise<string>;
}

/** @param collector takes the spans; every request is traced unless its caller says otherwise. */
export async function createTestTelemetry(name: string, collector: SpanCollector): Promise<TestTelemetry> {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write: (chunk, _, done) => (lines.push(JSON.parse(String(chunk)) as Record<string, unknown>), done()),
  });
  const [metrics, trace] = await Promise.all([createPrometheus(metricsOf.service), collector.createTrace(name)]);
  const records = createRequestRecords();
  const log = createLog({ name, level: "trace", destination, context: () => recordFields(records.current()) });
  const aroundStatement = createStatementObserver(metrics, trace);
  if (aroundStatement === undefined) throw new Error("metrics are on, so statements are observed");
  return {
    log,
    observer: createServiceObserver({ log, metrics, trace, records, accessLog: "all" }),
    aroundStatement,
    lines: () => lines,
    writeMetrics: () => metrics.write(),
  };
}
