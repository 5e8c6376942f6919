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
  if (!observer) throw new Error("somebody watches");
  const record = new GraphqlRequestRecord(trace.begin("request", undefined));
  return { observer, record, collector, write: () => metrics.write() };
}

test("a fetch is counted by its subgraph and by what has come of it, and under way until then", async () => {
  const { observer, record, write } = await setUp();
  const first = observer.begin("users", record);
  observer.begin("users", record).end({ kind: "graphql", errors: [] });
  observer.begin("users", record).end({ kind: "graphql", errors: [saying("NOT_FOUND")] });
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
  observer.begin("users", record).end({ kind: "graphql", errors: codes.map(saying) });
  expect(await write()).toContain(`fetches_total{subgraph="users",outcome="${outcome}"} 1`);
  expect(collector.spans()).toMatchObject([{ name: "fetch users", failed: true }]);
});

test("a fetch belongs to the stage that began it, and its attempts belong to it", async () => {
  const { observer, record, collector } = await setUp();
  record.enter("run");
  const fetch = observer.begin("users", record);
  fetch.end({ kind: "graphql", errors: [] });
  record.enter("shape");
  record.leave();
  record.span?.end();
  expect(collector.paths()).toEqual(["request > run > fetch users", "request > shape"]);
  const span = collector.spans().find(({ name }) => name === "fetch users");
  expect(fetch.traced).toMatchObject({ parent: { spanId: span?.spanId }, name: "ask users" });
});

test("who takes another's answer waits for it, and fetches nothing", async () => {
  const { observer, record, collector, write } = await setUp();
  const answer = Promise.withResolvers<void>();
  observer.join("users", record, answer.promise);
  observer.join("users", new GraphqlRequestRecord(undefined), answer.promise);
  expect(collector.spans()).toEqual([]);
  answer.resolve();
  await answer.promise;
  expect(collector.spans()).toMatchObject([{ name: "await users", attributes: { "tributary.shared": true } }]);
  const text = await write();
  expect(text).toContain('tributary_gateway_subgraph_fetches_shared_total{subgraph="users"} 2');
  expect(text).not.toContain("tributary_gateway_subgraph_fetches_total{");
});

function saying(code: string | undefined) {
  return { extensions: { code } };
}
