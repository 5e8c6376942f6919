import { setTimeout as wait } from "node:timers/promises";
import { defaultResource } from "@opentelemetry/resources";
import { expect, test } from "vitest";
import { AppError } from "../../errors/app-error.ts";
import { createSpanCollector } from "../../testing/trace.ts";
import { errorTypeOf } from "./error-type.ts";
import { toReadableSpan } from "./readable-span.ts";
import { createSampling } from "./sampling.ts";
import type { SpanRecord } from "./span-record.ts";
import { noTrace } from "./trace.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const callerSpan = "b7ad6b7169203331";

async function setUp() {
  const collector = createSpanCollector();
  return { collector, trace: await collector.createTrace("here") };
}

test("a request that its caller traces continues that trace, below the caller's span", async () => {
  const { collector, trace } = await setUp();
  const span = trace.begin("GET /things", `00-${traceId}-${callerSpan}-01`, { kind: "server" });
  span?.end();
  expect(collector.spans()).toMatchObject([
    { name: "GET /things", kind: "server", traceId, parentId: callerSpan, process: "here", failed: false },
  ]);
  expect(span?.traceParent).toBe(`00-${traceId}-${span?.spanId}-01`);
});

test("a request that its caller does not trace records no spans", async () => {
  const { collector, trace } = await setUp();
  const span = trace.begin("GET /things", `00-${traceId}-${callerSpan}-00`);
  expect(span).toBeUndefined();
  expect(trace.run(span, () => trace.span("inside", (inner) => inner))).toBeUndefined();
  expect(collector.spans()).toEqual([]);
});

test("work belongs to the request that started it, also across awaits and concurrent requests", async () => {
  const { collector, trace } = await setUp();
  const serve = async (name: string) => {
    const span = trace.begin(name, undefined);
    await trace.run(span, async () => {
      await wait(1);
      await trace.span("stage", async () => {
        await wait(1);
        await Promise.all([trace.span("one", () => wait(1)), trace.span("two", () => wait(1))]);
      });
    });
    span?.end();
  };
  await Promise.all([serve("a"), serve("b")]);
  expect(collector.paths()).toEqual(["a > stage > one", "a > stage > two", "b > stage > one", "b > stage > two"]);
  expect(new Set(collector.spans().map((span) => span.traceId)).size).toBe(2);
});

test("an error marks its span with the error's type, and is rethrown", async () => {
  const { collector, trace } = await setUp();
  const span = trace.begin("root", undefined);
  const error = new AppError("NOT_FOUND", "There is no ada@example.com");
  await trace.run(span, async () => {
    await expect(trace.span("later", () => Promise.reject(error))).rejects.toBe(error);
    expect(() =>
      trace.span("now", () => {
        throw error;
      }),
    ).toThrow(error);
  });
  expect(collector.spans()).toMatchObject([
    { name: "later", failed: true, attributes: { "error.type": "NOT_FOUND" } },
    { name: "now", failed: true, attributes: { "error.type": "NOT_FOUND" } },
  ]);
  expect(JSON.stringify(collector.spans())).not.toContain("ada@");
});

test("a span cannot be changed after its end", async () => {
  const { collector, trace } = await setUp();
  const span = trace.begin("root", undefined);
  span?.end();
  span?.rename("other");
  span?.set("http.route", "/things");
  span?.end();
  expect(collector.spans().map(({ name, attributes }) => [name, attributes])).toEqual([["root", {}]]);
});

test("an error's type is its code or its class, never its message", () => {
  const withCode = Object.assign(new Error("at 10.0.0.1"), { code: "ECONNREFUSED" });
  const odd = Object.assign(new TypeError("x"), { code: "ada@example.com" });
  expect([withCode, odd, "thrown text"].map(errorTypeOf)).toEqual(["ECONNREFUSED", "TypeError", "unknown"]);
});

test("tracing that is off runs the work and nothing else", () => {
  const span = noTrace.begin("root", `00-${traceId}-${callerSpan}-01`);
  expect(noTrace.run(span, () => noTrace.span("inside", (inner) => [inner, noTrace.current()]))).toEqual([
    undefined,
    undefined,
  ]);
});

const caller = (traceId: string, flags: string) => ({ traceId, flags, spanId: "00f067aa0ba902b7" });
const low = "4bf92f3577b34da6a3ce929d00000001";
const high = "4bf92f3577b34da6a3ce929dffffffff";

test("a parent-based sampler follows its caller, and samples by ratio without one", () => {
  const draws = [0.009, 0.01];
  const config = { sampler: "parentbased_traceidratio", ratio: 0.01, callers: "clients" } as const;
  const isTraced = createSampling(config, () => draws.shift() ?? 1);
  expect([caller(high, "01"), caller(low, "00"), undefined, undefined].map(isTraced)).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test("neither the flag nor the trace id of a client decides whether its request is sampled by ratio", () => {
  const draws = [0.009, 0.01, 0.009, 0.01];
  const isTraced = createSampling(
    { sampler: "traceidratio", ratio: 0.01, callers: "clients" },
    () => draws.shift() ?? 1,
  );
  const callers = [caller(high, "00"), caller(low, "01"), caller(low, "00"), caller(high, "01")];
  expect(callers.map(isTraced)).toEqual([true, false, true, false]);
});

test("between our own processes a sampler by ratio decides by the trace id, not by the flag", () => {
  const isTraced = createSampling({ sampler: "traceidratio", ratio: 0.5, callers: "internal" });
  expect([caller(low, "00"), caller(high, "01")].map(isTraced)).toEqual([true, false]);
});

test("always_on samples all requests, always_off none", () => {
  const on = createSampling({ sampler: "always_on", ratio: 0, callers: "internal" });
  const off = createSampling({ sampler: "always_off", ratio: 1, callers: "internal" });
  const callers = [undefined, caller(low, "00"), caller(high, "01")];
  expect(callers.map(on)).toEqual([true, true, true]);
  expect(callers.map(off)).toEqual([false, false, false]);
});

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
