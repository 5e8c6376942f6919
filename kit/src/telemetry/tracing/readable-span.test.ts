import { defaultResource } from "@opentelemetry/resources";
import { expect, test } from "vitest";
import { toReadableSpan } from "./readable-span.ts";
import type { SpanRecord } from "./span-record.ts";

const record: SpanRecord = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parent: undefined,
  name: "GET /things",
  kind: "server",
  startMs: 1_763_000_000_999.5,
  endMs: 1_763_000_001_001.25,
  attributes: { "http.route": "/things" },
  hasFailed: false,
};
const about = { resource: defaultResource(), version: "1.2.3" };

test("times are seconds and nanoseconds, also across a full second", () => {
  const { startTime, endTime, duration } = toReadableSpan(record, about);
  expect([startTime, endTime, duration]).toEqual([
    [1_763_000_000, 999_500_000],
    [1_763_000_001, 1_250_000],
    [0, 1_750_000],
  ]);
});

test("kinds and failures have OpenTelemetry's numbers", () => {
  const kinds = (["internal", "server", "client"] as const).map((kind) => toReadableSpan({ ...record, kind }, about));
  expect(kinds.map(({ kind }) => kind)).toEqual([0, 1, 2]);
  const ends = [false, true].map((hasFailed) => toReadableSpan({ ...record, hasFailed }, about));
  expect(ends.map(({ status }) => status.code)).toEqual([0, 2]);
});

test("a root has no parent, and another process's span is a remote one", () => {
  expect(toReadableSpan(record, about)).not.toHaveProperty("parentSpanContext");
  const parent = { traceId: record.traceId, spanId: "00f067aa0ba902b7", isRemote: true };
  expect(toReadableSpan({ ...record, parent }, about).parentSpanContext).toEqual({ ...parent, traceFlags: 1 });
});
