import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";

export interface SpanExportOptions {
  /** As OTEL_EXPORTER_OTLP_ENDPOINT says it: without `/v1/traces`. */
  readonly endpoint: string;
  /** Called when spans begin to be lost, and not again before some have arrived. */
  readonly onLost: (error: Error) => void;
}

/**
 * Sends spans to a collector in batches, every 5 s or when 512 wait, as OTLP over HTTP. At most 2,048 wait; further ones are lost, as are
 * those that the collector does not take within 10 s: nobody waits for it.
 */
export async function createSpanExport({ endpoint, onLost }: SpanExportOptions): Promise<SpanProcessor> {
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }] = await Promise.all([
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-proto"),
  ]);
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, "")}/v1/traces` });
  return new BatchSpanProcessor({
    exporter: tellingOfLosses(exporter, onLost),
    maxQueueSize: 2_048,
    maxExportBatchSize: 512,
    scheduledDelayMillis: 5_000,
  });
}

function tellingOfLosses(exporter: SpanExporter, onLost: SpanExportOptions["onLost"]): SpanExporter {
  let isLosing = false;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        // The exporter gives an error with each failure, and with nothing else.
        if (result.error && !isLosing) onLost(result.error);
        isLosing = result.error !== undefined;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
