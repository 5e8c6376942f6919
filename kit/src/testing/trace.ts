import type { SpanRecord } from "../telemetry/tracing/span-record.ts";
import type { Trace } from "../telemetry/tracing/trace.ts";
import { createTracing } from "../telemetry/tracing/tracing.ts";

export interface RecordedSpan {
  readonly name: string;
  readonly process: string;
  readonly kind: "internal" | "server" | "client";
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for a root span. */
  readonly parentId: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Collects the spans of several services that run in the test's process. */
export interface SpanCollector {
  /** Creates the tracing of one service. Each request is sampled unless its `traceparent` decides otherwise. */
  createTrace(process: string): Promise<Trace>;
  /** The finished spans, in the order of their ends. */
  spans(): readonly RecordedSpan[];
  /** The names from the root to each leaf, such as `GET /v1/things > find-things`; sorted. */
  paths(): readonly string[];
  reset(): void;
}

export function createSpanCollector(): SpanCollector {
  let recorded: RecordedSpan[] = [];
  return {
    createTrace: (process) =>
      Promise.resolve(
        createTracing({
          tracing: { sampler: "parentbased_always_on", ratio: 1, callers: "internal" },
          deliver: (record) => void recorded.push(toRecordedSpan(record, process)),
          stop: () => Promise.resolve(),
        }),
      ),
    spans: () => recorded,
    paths: () => writePaths(recorded),
    reset() {
      recorded = [];
    },
  };
}

function toRecordedSpan(record: SpanRecord, process: string): RecordedSpan {
  const { name, kind, traceId, spanId, parent, hasFailed, attributes } = record;
  return { name, process, kind, traceId, spanId, parentId: parent?.spanId, failed: hasFailed, attributes };
}

function writePaths(spans: readonly RecordedSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const parentIds = new Set(spans.map(({ parentId }) => parentId));
  const pathOf = (span: RecordedSpan): string => {
    const parent = span.parentId === undefined ? undefined : byId.get(span.parentId);
    return parent ? `${pathOf(parent)} > ${span.name}` : span.name;
  };
  const leaves = spans.filter(({ spanId }) => !parentIds.has(spanId));
  return leaves.map(pathOf).toSorted();
}
