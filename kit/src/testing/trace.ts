import { SpanStatusCode } from "@opentelemetry/api";
import { type ReadableSpan, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace";
import { createOpenTelemetry } from "../telemetry/open-telemetry.ts";
import type { Trace } from "../telemetry/trace.ts";

/** A span that has ended, as a test looks at it. */
export interface RecordedSpan {
  readonly name: string;
  readonly process: string;
  readonly kind: "internal" | "server" | "client";
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for a root. */
  readonly parentId: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What several processes of one test record; those that run in the test's own process share it. */
export interface SpanCollector {
  /** Tracing for one process of this name, with each request sampled unless the caller says otherwise. */
  createTrace(process: string): Promise<Trace>;
  /** The spans that have ended, in that order. */
  spans(): readonly RecordedSpan[];
  /** The names from the root to each leaf, such as `GET /v1/things > find-things`; sorted. */
  paths(): readonly string[];
  reset(): void;
}

export function createSpanCollector(): SpanCollector {
  const exporter = new InMemorySpanExporter();
  const spans = () => exporter.getFinishedSpans().map(toRecordedSpan);
  return {
    createTrace: (process) =>
      createOpenTelemetry({
        tracing: { serviceName: process, sampler: "parentbased_always_on", ratio: 1 },
        build: { version: "test", revision: "test" },
        processor: new SimpleSpanProcessor({ exporter }),
      }),
    spans,
    paths: () => writePaths(spans()),
    reset: () => exporter.reset(),
  };
}

const kinds: readonly RecordedSpan["kind"][] = ["internal", "server", "client"];

function toRecordedSpan(span: ReadableSpan): RecordedSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    process: String(span.resource.attributes["service.name"]),
    kind: kinds[span.kind] ?? "internal",
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId,
    failed: span.status.code === SpanStatusCode.ERROR,
    attributes: span.attributes,
  };
}

function writePaths(spans: readonly RecordedSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const parents = new Set(spans.map(({ parentId }) => parentId));
  const pathOf = (span: RecordedSpan): string => {
    const parent = span.parentId === undefined ? undefined : byId.get(span.parentId);
    return parent ? `${pathOf(parent)} > ${span.name}` : span.name;
  };
  return spans
    .filter(({ spanId }) => !parents.has(spanId))
    .map(pathOf)
    .toSorted();
}
