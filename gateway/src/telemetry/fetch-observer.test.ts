import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { createSpanCollector } from "@tributary/kit/testing/trace";
import { expect, test } from "vitest";
import { createFetchObserver } from "./fetch-observer.ts";
import { GraphqlRequestRecord } from "./request-record.ts";

async function setUp() {
  const collector = createSpanCollector();
  const [metrics, trace] = await Promise.all([createPrometheus(metricsOf.gateway), collector.createTrace("gateway")]);
  const observer = createFetchObserver(metrics, trace);
  if (!observer) throw new Error("telemetry is on");
  const record = new GraphqlRequestRecord(trace.begin("request", undefined));
  return { observer, record, collector, write: () => metrics.write() };
}

test("a fetch is counted by its subgraph and outcome, and as in flight until its end", async () => {
  const { observer, record, write } = await setUp();
  const first = observer.begin("users", record);
  observer.begin("users", record).end({ kind: "graphql", errors: [] });
  observer.begin("users", record).end({ kind: "graphql", errors: [errorWith("NOT_FOUND")] });
  observer.begin("users", undefined).end({ kind: "failed", code: "SUBGRAPH_TIMEOUT" });
  expect(await write()).toContain('tributary_gateway_subgraph_fetches_in_flight{subgraph="users"} 1');
  first.end({ kind: "unusable", code: "SUBGRAPH_BAD_ANSWER" });
  const text = await write();
  for (const outcome of ["ok", "errors", "SUBGRAPH_TIMEOUT", "SUBGRAPH_BAD_ANSWER"])
    expect(text).toContain(`tributary_gateway_subgraph_fetches_total{subgraph="users",outcome="${outcome}"} 1`);
  expect(text).toContain('tributary_gateway_subgraph_fetch_duration_seconds_count{subgraph="users"} 4');
  expect(text).toContain('tributary_gateway_subgraph_fetches_in_flight{subgraph="users"} 0');
});

test.each([
  [["SERVICE_UNAVAILABLE", "NOT_FOUND"], "SUBGRAPH_UNAVAILABLE"],
  [["NOT_FOUND", "INTERNAL_SERVER_ERROR"], "SUBGRAPH_ERROR"],
  [[undefined], "SUBGRAPH_ERROR"],
  [["SERVICE_UNAVAILABLE", "INTERNAL_SERVER_ERROR"], "SUBGRAPH_ERROR"],
])("a response with the errors %j is a failed fetch: %s", async (codes, outcome) => {
  const { observer, record, collector, write } = await setUp();
  observer.begin("users", record).end({ kind: "graphql", errors: codes.map(errorWith) });
  expect(await write()).toContain(`fetches_total{subgraph="users",outcome="${outcome}"} 1`);
  expect(collector.spans()).toMatchObject([{ name: "fetch users", failed: true }]);
});

test("the span of a fetch is a child of its stage, and the parent of its attempts", async () => {
  const { observer, record, collector } = await setUp();
  record.enter("run");
  const fetch = observer.begin("users", record);
  fetch.end({ kind: "graphql", errors: [] });
  record.enter("shape");
  record.leave();
  record.span?.end();
  expect(collector.paths()).toEqual(["request > run > fetch users", "request > shape"]);
  const span = collector.spans().find(({ name }) => name === "fetch users");
  expect(fetch.traced).toMatchObject({ parent: { spanId: span?.spanId }, name: "attempt users" });
});

test("a request that joins a fetch has an await span, and is not counted as a fetch", async () => {
  const { observer, record, collector, write } = await setUp();
  const result = Promise.withResolvers<void>();
  observer.join("users", record, result.promise);
  observer.join("users", new GraphqlRequestRecord(undefined), result.promise);
  expect(collector.spans()).toEqual([]);
  result.resolve();
  await result.promise;
  expect(collector.spans()).toMatchObject([{ name: "await users", attributes: { "tributary.shared": true } }]);
  const text = await write();
  expect(text).toContain('tributary_gateway_subgraph_fetches_shared_total{subgraph="users"} 2');
  expect(text).not.toContain("tributary_gateway_subgraph_fetches_total{");
});

function errorWith(code: string | undefined) {
  return { extensions: { code } };
}
