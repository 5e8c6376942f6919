import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { createSpanCollector } from "@tributary/kit/testing/trace";
import { describe, expect, test } from "vitest";
import { codes } from "../errors/codes.ts";
import { exposeGauges } from "./cache-metrics.ts";
import { createFetchObserver } from "./fetch-observer.ts";
import { createObservationCounts } from "./observation-counts.ts";
import { GraphqlRequestRecord } from "./request-record.ts";

describe("metrics of observations", () => {
  test("every status of a failure of the gateway is exported before the first one", () => {
    const { status: expected } = metricsOf.gateway.tributary_gateway_requests_total.expected;
    const failures = Object.values(codes).flatMap(({ statuses }) =>
      Object.values(statuses).filter((status) => status >= 500),
    );
    expect(expected).toEqual(expect.arrayContaining(failures));
  });

  test("observations are counted with their labels", async () => {
    const metrics = await createPrometheus(metricsOf.gateway);
    const count = createObservationCounts(metrics);
    const cause = new Error("refused");
    const replica = "http://users:4001/ (10.0.0.7)";
    count({ kind: "client-disconnected", requestId: "r", traceId: "t" });
    count({ kind: "response-truncated", requestId: "r", traceId: "t" });
    count({ kind: "plan-cache-hit" });
    count({ kind: "plan-cache-miss" });
    count({ kind: "plan-built", tookMs: 30, jsonCharacters: 100 });
    count({ kind: "plan-failed", reason: "bug", operationHash: "a", cause });
    count({ kind: "plan-started", waitedMs: 3 });
    count({ kind: "cache-evicted", cache: "plans" });
    count({ kind: "planner-replaced", reason: "died", cause });
    count({ kind: "retried", service: "users", replica, reason: "reset", status: undefined });
    count({
      kind: "subgraph-response-invalid",
      requestId: "r",
      traceId: "t",
      service: "users",
      replica,
      count: 2,
      paths: ["_entities.0"],
    });
    count({ kind: "retry-over-budget", service: "users", replica });
    count({ kind: "replica-ejected", reason: "failing", service: "users", replica, pauseMs: 1_000, cause });
    count({ kind: "dns-lookup-failed", service: "users", host: "users", cause });
    count({ kind: "supergraph-loaded", id: "a", subgraphs: ["users", "posts"], tookMs: 3 });
    count({ kind: "supergraph-rejected", subgraphs: [], id: "b", cause });
    const text = await metrics.write();
    const lines = [
      "clients_disconnected_total 1",
      "responses_truncated_total 1",
      ...["hit", "miss", "built", "failed"].map((result) => `plans_total{result="${result}"} 1`),
      'plan_duration_seconds_bucket{le="0.025"} 0',
      'plan_duration_seconds_bucket{le="0.05"} 1',
      "planners_replaced_total 1",
      'planner_queue_wait_seconds_bucket{le="0.005"} 1',
      'cache_evictions_total{cache="plans"} 1',
      'cache_evictions_total{cache="documents"} 0',
      'subgraph_retries_total{subgraph="users"} 1',
      'subgraph_retries_over_budget_total{subgraph="users"} 1',
      'subgraph_retries_over_budget_total{subgraph="posts"} 0',
      'subgraph_fetches_total{subgraph="posts",outcome="SUBGRAPH_TIMEOUT"} 0',
      'subgraph_responses_invalid_total{subgraph="users"} 1',
      'replica_ejections_total{subgraph="users"} 1',
      'replicas_ejected{subgraph="users",reason="failing"} 1',
      'replicas_ejected{subgraph="posts",reason="failing"} 0',
      'breaker_open{subgraph="posts"} 0',
      'lookup_failures_total{subgraph="users"} 1',
      'supergraph_loads_total{result="loaded"} 1',
      'supergraph_loads_total{result="rejected"} 1',
    ];
    const missing = lines.filter((line) => !text.includes(`\ntributary_gateway_${line}\n`));
    expect(missing).toEqual([]);
    expect(text).toMatch(/\ntributary_gateway_supergraph_loaded_timestamp_seconds 1[.\d]+\n/);
    count({ kind: "replica-restored", service: "users", replica });
    for (const kind of ["replica-restored", "replica-removed"] as const) {
      count({ kind: "replica-ejected", reason: "failing", service: "users", replica, pauseMs: 1_000, cause });
      expect(await metrics.write()).toContain('replicas_ejected{subgraph="users",reason="failing"} 1');
      count({ kind, service: "users", replica });
      expect(await metrics.write()).toContain('replicas_ejected{subgraph="users",reason="failing"} 0');
    }
  });

  test("the gauge of unknown subgraph variables is for the supergraph in use", async () => {
    const metrics = await createPrometheus(metricsOf.gateway);
    const count = createObservationCounts(metrics);
    const valueAfterLoad = async (variables: number, kind: "supergraph-loaded" | "supergraph-rejected") => {
      for (let i = 0; i < variables; i++) count({ kind: "variable-without-subgraph", variable: `SUBGRAPH_URL_${i}` });
      count({ kind, id: "a", subgraphs: [], tookMs: 3, cause: undefined });
      return /^tributary_gateway_unknown_subgraph_variables (\d+)$/m.exec(await metrics.write())?.[1];
    };
    expect(await valueAfterLoad(2, "supergraph-loaded")).toBe("2");
    expect(await valueAfterLoad(5, "supergraph-rejected")).toBe("2");
    expect(await valueAfterLoad(0, "supergraph-loaded")).toBe("0");
  });
});

describe("gauges of caches and queues", () => {
  test("a scrape reads the current sizes of the caches and of the queue, and the age of a stale supergraph", async () => {
    const metrics = await createPrometheus(metricsOf.gateway);
    let entries = 1;
    const size = () => ({ entries, weight: 10 * entries });
    exposeGauges(metrics, {
      cacheSizes: () => ({
        documents: size(),
        plans: size(),
        introspection: size(),
        "persisted-queries": size(),
        entities: size(),
      }),
      countQueuedJobs: () => entries,
      supergraphStatus: () => ({ staleSeconds: 60 * entries }),
      documentsStatus: () => ({ counts: { planned: entries, invalid: 0, pending: 0 } }),
    });
    await metrics.write();
    entries = 2;
    const text = await metrics.write();
    for (const cache of ["documents", "plans", "introspection", "persisted-queries", "entities"]) {
      expect(text).toContain(`tributary_gateway_cache_entries{cache="${cache}"} 2`);
      expect(text).toContain(`tributary_gateway_cache_bytes{cache="${cache}"} 20`);
    }
    expect(text).toContain("tributary_gateway_planner_queue_length 2");
    expect(text).toContain("tributary_gateway_supergraph_stale_seconds 120");
  });
});

describe("metrics and spans of fetches", () => {
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
    first.end({ kind: "unusable", code: "SUBGRAPH_INVALID_RESPONSE" });
    const text = await write();
    for (const outcome of ["ok", "errors", "SUBGRAPH_TIMEOUT", "SUBGRAPH_INVALID_RESPONSE"])
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

  test("a request that shares a fetch has an await span, and is not counted as a fetch", async () => {
    const { observer, record, collector, write } = await setUp();
    const result = Promise.withResolvers<void>();
    observer.share("users", record, result.promise);
    observer.share("users", new GraphqlRequestRecord(undefined), result.promise);
    expect(collector.spans()).toEqual([]);
    result.resolve();
    await result.promise;
    expect(collector.spans()).toMatchObject([{ name: "await users", attributes: { "tributary.shared": true } }]);
    const text = await write();
    expect(text).toContain('tributary_gateway_subgraph_fetches_shared_total{subgraph="users"} 2');
    expect(text).not.toContain("tributary_gateway_subgraph_fetches_total{");
  });

  function errorWith(code: string | undefined) {
    return { extensions: { code }, public: code === "NOT_FOUND" ? { code } : undefined };
  }
});
