import { AppError } from "@tributary/kit/errors/app-error";
import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { expect, test } from "vitest";
import { ClientDisconnected } from "../errors/service-failure.ts";
import { createCacheObserver } from "./cache-counts.ts";
import { createObservationCounts } from "./observation-counts.ts";
import { createServiceObservers } from "./service-observer.ts";

const about = { requestId: "r", traceId: "t", method: "GET", route: "/things/:id", path: "/v1/things/1" };
const cause = new Error("refused");

function expectLines(text: string, lines: readonly string[]): void {
  expect(lines.filter((line) => !text.includes(`\ntributary_rest_${line}\n`))).toEqual([]);
}

test("cache requests are counted by result, and the size of the cache is reported", async () => {
  const metrics = await createPrometheus(metricsOf.rest);
  const cache = createCacheObserver(metrics);
  cache?.watch(() => ({ bytes: 700, entries: 3 }), 1_000);
  cache?.count({ kind: "hit" });
  cache?.count({ kind: "hit" });
  cache?.count({ kind: "stale", because: "if-error" });
  cache?.count({ kind: "refresh-skipped" });
  cache?.count({ kind: "invalidated", entries: 4 });
  cache?.count({ kind: "evicted", bytes: 50 });
  cache?.count({ kind: "refresh-failed", origin: "things", key: "/v1/things/1", cause });
  const text = await metrics.write();
  expectLines(text, [
    'cache_requests_total{result="hit"} 2',
    'cache_requests_total{result="stale-if-error"} 1',
    "cache_invalidated_total 4",
    "cache_evicted_bytes_total 50",
    "cache_refresh_failures_total 1",
    "cache_bytes 700",
    "cache_bytes_max 1000",
    "cache_entries 3",
  ]);
  expect(text.match(/\ntributary_rest_cache_requests_total\{.*\} [1-9]/g)).toHaveLength(2);
});

test("requests to a service are counted by outcome, and are in flight until their body is complete", async () => {
  const metrics = await createPrometheus(metricsOf.rest);
  const observer = createServiceObservers(metrics)?.("things");
  if (!observer) throw new Error("metrics are off");
  observer.begin().responded(200);
  const failing = [503, new AppError("BAD_GATEWAY", ""), new ClientDisconnected(""), new Error("bug")];
  for (const failure of failing) {
    const request = observer.begin();
    if (typeof failure === "number") request.responded(failure);
    else request.failed(failure);
    request.closed();
  }
  observer.refuse(new AppError("SERVICE_UNAVAILABLE", ""));
  const outcomes = ["ok", "5xx", "BAD_GATEWAY", "CLIENT_DISCONNECTED", "INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"];
  expectLines(await metrics.write(), [
    ...outcomes.map((outcome) => `service_requests_total{service="things",outcome="${outcome}"} 1`),
    'service_request_duration_seconds_count{service="things"} 5',
    'service_requests_in_flight{service="things"} 1',
  ]);
});

test("observations about replicas and truncated responses are counted by service", async () => {
  const metrics = await createPrometheus(metricsOf.rest);
  const count = createObservationCounts(metrics);
  const replica = "http://things:4001/ (10.0.0.7)";
  count({ kind: "retried", replica, reason: "reset", status: undefined, service: "things" });
  count({ kind: "retry-over-budget", replica, service: "things" });
  count({ kind: "replica-ejected", replica, pauseMs: 1_000, cause, service: "things" });
  count({ kind: "lookup-failed", host: "things", cause, service: "things" });
  count({ kind: "response-truncated", service: "things", reason: "GATEWAY_TIMEOUT", ...about });
  count({ kind: "response-truncated", reason: "GATEWAY_TIMEOUT", ...about });
  expectLines(await metrics.write(), [
    'service_retries_total{service="things"} 1',
    'service_retries_over_budget_total{service="things"} 1',
    'replica_ejections_total{service="things"} 1',
    'replicas_ejected{service="things"} 1',
    'lookup_failures_total{service="things"} 1',
    'responses_truncated_total{side="service"} 1',
    'responses_truncated_total{side="client"} 1',
  ]);
  for (const kind of ["replica-restored", "replica-removed"] as const) {
    count({ kind: "replica-ejected", replica, pauseMs: 1_000, cause, service: "things" });
    expectLines(await metrics.write(), ['replicas_ejected{service="things"} 1']);
    count({ kind, replica, service: "things" });
    expectLines(await metrics.write(), ['replicas_ejected{service="things"} 0']);
  }
});
