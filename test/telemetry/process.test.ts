import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { metricsOf, runtimeMetricNames } from "../../kit/src/telemetry/metrics/metric-declarations.ts";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { type FakeCollector, startCollector } from "./collector.ts";
import { startObservedService } from "./observed-process.ts";

let issuer: TestIssuer;
let collector: FakeCollector;
beforeAll(async () => {
  [issuer, collector] = await Promise.all([startTestIssuer(), startCollector()]);
});
afterAll(() => Promise.all([issuer.stop(), collector.stop()]));

const start = (environment: Readonly<Record<string, string>> = {}) =>
  startObservedService("comments", {
    postgresUrl: inject("postgresUrl"),
    issuer,
    collectorUrl: collector.url,
    environment,
  });

test("a service exports all its declared metrics on its admin port, and none on its public port", async () => {
  const running = await start({ BUILD_VERSION: "1.2.3", BUILD_REVISION: "abc" });
  const text = await (await fetch(`${running.adminUrl}/metrics`)).text();
  const exported = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  const declared = [...Object.keys(metricsOf.service), ...runtimeMetricNames];
  expect(declared.filter((name) => !exported.has(name))).toEqual([]);
  expect(text).toContain('tributary_build_info{version="1.2.3",revision="abc",supergraph="none",instance_id="');
  expect(text).toContain("tributary_service_database_connections_max 10");
  expect((await fetch(`${running.url}/metrics`)).status).toBe(404);
  const ready = await (await fetch(`${running.url}/health/ready`)).json();
  expect(ready).toEqual({ status: "ready", version: "1.2.3", revision: "abc" });
  expect(await running.stop()).toBe(0);
});

test("pending spans are exported before the process exits", async () => {
  const running = await start({ OTEL_SERVICE_NAME: "comments-of-this-test" });
  await fetch(`${running.url}/rest/v1/posts/1/comments`);
  expect(await running.stop()).toBe(0);
  expect(collector.received().filter((text) => text.includes("comments-of-this-test"))).not.toEqual([]);
});

test("a process has the same instance id in its spans and its metrics", async () => {
  const running = await start();
  const text = await (await fetch(`${running.adminUrl}/metrics`)).text();
  const [, instanceId = "none"] = /instance_id="([\da-f-]{36})"/.exec(text) ?? [];
  await fetch(`${running.url}/rest/v1/posts/1/comments`);
  expect(await running.stop()).toBe(0);
  const spans = collector.received().filter((received) => received.includes("service.instance.id"));
  expect(spans.filter((received) => received.includes(instanceId))).not.toEqual([]);
});

test("without the telemetry variables a process has one listener, exports no spans, and writes no access log", async () => {
  const before = collector.received().length;
  const running = await start({ ADMIN_PORT: "", OTEL_EXPORTER_OTLP_ENDPOINT: "", ACCESS_LOG: "off", LOG_LEVEL: "" });
  await fetch(`${running.url}/rest/v1/posts/1/comments`);
  expect(running.adminUrl).toBe("");
  expect(await running.stop()).toBe(0);
  expect(running.written()).not.toContain('"request completed"');
  expect(collector.received()).toHaveLength(before);
});

test("an unreachable collector delays neither responses nor the exit of the process", async () => {
  const running = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
  expect((await fetch(`${running.url}/rest/v1/posts/1/comments`)).status).toBe(200);
  expect(await running.stop()).toBe(0);
});
