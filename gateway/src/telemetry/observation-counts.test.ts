import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { expect, test } from "vitest";
import { codes } from "../errors/codes.ts";
import { createObservationCounts } from "./observation-counts.ts";

test("every status of a failure of the gateway is exported before the first one", () => {
  const { status: expected } = metricsOf.gateway.tributary_gateway_requests_total.expected;
  const failures = Object.values(codes).flatMap(({ status }) => (status >= 500 ? [status] : []));
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
  count({ kind: "replica-ejected", service: "users", replica, pauseMs: 1_000, cause });
  count({ kind: "lookup-failed", service: "users", host: "users", cause });
  count({ kind: "supergraph-loaded", id: "a", subgraphs: ["users", "posts"], tookMs: 3 });
  count({ kind: "supergraph-rejected", id: "b", cause });
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
    'replicas_ejected{subgraph="users"} 1',
    'replicas_ejected{subgraph="posts"} 0',
    'lookup_failures_total{subgraph="users"} 1',
    'supergraph_loads_total{result="loaded"} 1',
    'supergraph_loads_total{result="rejected"} 1',
  ];
  const missing = lines.filter((line) => !text.includes(`\ntributary_gateway_${line}\n`));
  expect(missing).toEqual([]);
  expect(text).toMatch(/\ntributary_gateway_supergraph_loaded_timestamp_seconds 1[.\d]+\n/);
  for (const kind of ["replica-restored", "replica-removed"] as const) {
    count({ kind: "replica-ejected", service: "users", replica, pauseMs: 1_000, cause });
    expect(await metrics.write()).toContain('replicas_ejected{subgraph="users"} 1');
    count({ kind, service: "users", replica });
    expect(await metrics.write()).toContain('replicas_ejected{subgraph="users"} 0');
  }
});

test("the gauge of unknown subgraph variables is for the supergraph in use", async () => {
  const metrics = await createPrometheus(metricsOf.gateway);
  const count = createObservationCounts(metrics);
  const valueAfterLoad = async (variables: number, kind: "supergraph-loaded" | "supergraph-rejected") => {
    for (let i = 0; i < variables; i++) count({ kind: "override-without-subgraph", variable: `SUBGRAPH_URL_${i}` });
    count({ kind, id: "a", subgraphs: [], tookMs: 3, cause: undefined });
    return /^tributary_gateway_unknown_subgraph_variables (\d+)$/m.exec(await metrics.write())?.[1];
  };
  expect(await valueAfterLoad(2, "supergraph-loaded")).toBe("2");
  expect(await valueAfterLoad(5, "supergraph-rejected")).toBe("2");
  expect(await valueAfterLoad(0, "supergraph-loaded")).toBe("0");
});
