import type { HrTime } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { SpanRecord } from "./span-record.ts";

/** Copied from OpenTelemetry's API, so that this file imports only types. */
const spanKinds = { internal: 0, server: 1, client: 2 } as const;
const statusCodes = { unset: 0, error: 2 } as const;
/** `TraceFlags.SAMPLED`: other requests have no record. */
const sampled = 1;

export function toReadableSpan(
  { traceId, spanId, parent, name, kind, startMs, endMs, attributes, hasFailed }: SpanRecord,
  { resource, version }: { readonly resource: Resource; readonly version: string },
): ReadableSpan {
  const context = { traceId, spanId, traceFlags: sampled };
  const span: ReadableSpan = {
    spanContext: () => context,
    name,
    kind: spanKinds[kind],
    startTime: toHrTime(startMs),
    endTime: toHrTime(endMs),
    duration: toHrTime(endMs - startMs),
    ended: true,
    status: { code: hasFailed ? statusCodes.error : statusCodes.unset },
    attributes,
    links: [],
    events: [],
    resource,
    instrumentationScope: { name: "tributary", version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
  return parent === undefined ? span : { ...span, parentSpanContext: { ...parent, traceFlags: sampled } };
}

const nanosecondsPerMs = 1e6;

function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  const remainingMs = ms - seconds * 1_000;
  return [seconds, Math.round(remainingMs * nanosecondsPerMs)];
}
