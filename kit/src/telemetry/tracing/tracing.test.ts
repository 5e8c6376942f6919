import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { AppError } from "../../errors/app-error.ts";
import { createSpanCollector } from "../../testing/trace.ts";
import { errorTypeOf } from "./error-type.ts";
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
