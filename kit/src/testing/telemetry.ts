import { Writable } from "node:stream";
import { createLog, type Log } from "../process/log.ts";
import { metricsOf } from "../telemetry/metrics/declarations/metrics-of-processes.ts";
import { createPrometheus } from "../telemetry/metrics/prometheus.ts";
import { createRequestRecords, recordFields } from "../telemetry/request-record.ts";
import { createServiceObserver, type ServiceObserver } from "../telemetry/service-observer.ts";
import { type AroundStatement, createStatementObserver } from "../telemetry/statement-observer.ts";
import type { SpanCollector } from "./trace.ts";

export interface TestTelemetry {
  readonly log: Log;
  readonly observer: ServiceObserver;
  readonly aroundStatement: AroundStatement;
  /** The log lines so far, of every level, with one for each request. */
  lines(): readonly Readonly<Record<string, unknown>>[];
  writeMetrics(): Promise<string>;
}

/** @param collector receives the spans. Every request is sampled unless its `traceparent` decides otherwise. */
export async function createTestTelemetry(name: string, collector: SpanCollector): Promise<TestTelemetry> {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    },
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
