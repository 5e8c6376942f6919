import type { SpanRecord } from "../telemetry/tracing/span-record.ts";
import type { Trace } from "../telemetry/tracing/trace.ts";
import { createTracing } from "../telemetry/tracing/tracing.ts";

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
  let recorded: RecordedSpan[] = [];
  return {
    createTrace: (process) =>
      Promise.resolve(
        createTracing({
          tracing: { sampler: "parentbased_always_on", ratio: 1 },
          deliver: (record) => void recorded.push(toRecordedSpan(record, process)),
          stop: () => Promise.resolve(),
        }),
      ),
    spans: () => recorded,
    paths: () => writePaths(recorded),
    reset: () => void (recorded = []),
  };
}

function toRecordedSpan(record: SpanRecord, process: string): RecordedSpan {
  const { name, kind, traceId, spanId, parent, hasFailed, attributes } = record;
  return { name, process, kind, traceId, spanId, parentId: parent?.spanId, failed: hasFailed, attributes };
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
