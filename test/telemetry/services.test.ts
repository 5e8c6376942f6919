import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { metricsOf } from "../../kit/src/telemetry/metrics/declarations/metrics-of-processes.ts";
import { runtimeMetricNames } from "../../kit/src/telemetry/metrics/declarations/process-metrics.ts";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { startTestService, type TestService } from "../../kit/src/testing/service.ts";
import { createTestTelemetry, type TestTelemetry } from "../../kit/src/testing/telemetry.ts";
import { createSpanCollector } from "../../kit/src/testing/trace.ts";
import { createApp as createOrders } from "../../services/orders/src/app.ts";
import { createApp as createUsers } from "../../services/users/src/app.ts";
import { type FakeCollector, startCollector } from "./collector.ts";
import { startObservedService } from "./observed-process.ts";

const collector = createSpanCollector();
const traceId = "0af7651916cd43dd8448eb211c80319c";
const callerSpan = "b7ad6b7169203331";
const traced = { traceparent: `00-${traceId}-${callerSpan}-01`, "x-request-id": "r-1" };

let issuer: TestIssuer;
let otlp: FakeCollector;
let users: TestService;
let orders: TestService;
let telemetry: { readonly users: TestTelemetry; readonly orders: TestTelemetry };

beforeAll(async () => {
  [issuer, otlp] = await Promise.all([startTestIssuer(), startCollector()]);
  const [usersTelemetry, ordersTelemetry] = await Promise.all(
    ["users", "orders"].map((name) => createTestTelemetry(name, collector)),
  );
  if (!usersTelemetry || !ordersTelemetry) throw new Error("no telemetry was created");
  telemetry = { users: usersTelemetry, orders: ordersTelemetry };
  const migrationsOf = (name: string) => new URL(`../../services/${name}/migrations`, import.meta.url);
  users = await startTestService(inject("postgresUrl"), migrationsOf("users"), createUsers, issuer, usersTelemetry);
  orders = await startTestService(inject("postgresUrl"), migrationsOf("orders"), createOrders, issuer, ordersTelemetry);
  await users.database.database.rows("insert-user", "insert into users (name, role) values ('Ada Lovelace', 'AUTHOR')");
  const product =
    "insert into products (sku, title, price_minor, currency, stock) values ('INK', 'Ink', 100, 'EUR', 9)";
  await orders.database.database.rows("catalogue", product);
});
beforeEach(() => collector.reset());
afterAll(async () => {
  await Promise.all([users.stop(), orders.stop()]);
  await Promise.all([issuer.stop(), otlp.stop()]);
});

test("a REST request is one child span of the caller's span, with a child span for each statement", async () => {
  expect((await users.rest("GET", "/v2/users/1", { headers: traced })).status).toBe(200);
  await ended(1);
  expect(collector.paths()).toEqual(["GET /v2/users/:id > find-users"]);
  expect(new Set(collector.spans().map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(collector.spans().at(-1)).toMatchObject({
    kind: "server",
    parentId: callerSpan,
    attributes: {
      "http.route": "/v2/users/:id",
      "url.path": "/v2/users/:id",
      "http.request.method": "GET",
      "http.response.status_code": 200,
      "tributary.request_id": "r-1",
    },
  });
  expect(collector.spans()[0]).toMatchObject({ kind: "client", attributes: { "db.query.summary": "find-users" } });
});

test("an entity request is one span, and all its representations are one statement", async () => {
  const query = "query ($r: [_Any!]!) { _entities(representations: $r) { ... on User { name } } }";
  const representations = ["1", "2", "3"].map((id) => ({ __typename: "User", id }));
  await sendGraphql(users, query, { r: representations });
  await ended(1);
  expect(collector.paths()).toEqual(["query _entities > find-users"]);
});

test("a transaction has a span for each statement below the span of its request", async () => {
  const token = await issuer.token("1", ["orders:write"]);
  const placed = await orders.rest("POST", "/v1/orders", {
    token,
    headers: traced,
    body: { lines: [{ sku: "INK", qty: 1 }] },
  });
  expect(placed.status).toBe(201);
  await ended(1);
  const root = "POST /v1/orders";
  expect(collector.paths()).toEqual(
    ["acquire", "begin", "commit", "insert-lines", "insert-order", "lock-products", "take-stock"].map(
      (name) => `${root} > ${name}`,
    ),
  );
});

test("concurrent requests have the spans of their own statements only", async () => {
  await Promise.all([
    users.rest("GET", "/v2/users/1"),
    users.rest("GET", "/v1/users/1"),
    sendGraphql(users, "{ user(id: 1) { name } }"),
  ]);
  await ended(3);
  expect(collector.paths()).toEqual([
    "GET /v1/users/:id > find-users",
    "GET /v2/users/:id > find-users",
    "query user > find-users",
  ]);
});

test("a request whose trace is not sampled records no span", async () => {
  const traceparent = `00-${traceId}-${callerSpan}-00`;
  await users.rest("GET", "/v2/users/1", { headers: { traceparent, "x-request-id": "untraced" } });
  await expect.poll(() => linesOf("untraced")).toHaveLength(1);
  expect(collector.spans()).toEqual([]);
});

test("each request is counted by its route template, and has a log line with its ids", async () => {
  await users.rest("GET", "/v2/users/1", { headers: traced });
  await users.rest("GET", "/v2/users/999", { headers: traced });
  await users.rest("GET", "/v2/nothing/here", { headers: traced });
  await sendGraphql(users, "{ user(id: 1) { nope } }");
  await ended(4);
  const metrics = await telemetry.users.writeMetrics();
  expect(countOf(metrics, 'endpoint="rest",route="/v2/users/:id",method="GET",status="404"')).toBe(1);
  expect(countOf(metrics, 'endpoint="rest",route="other",method="GET",status="404"')).toBe(1);
  expect(countOf(metrics, 'endpoint="graphql",route="other",method="POST",status="400"')).toBe(1);
  expect(metrics).toMatch(/tributary_service_graphql_errors_total\{code="GRAPHQL_VALIDATION_FAILED"\} 1/);
  expect(metrics).toMatch(/statement_duration_seconds_count\{statement="find-users",outcome="ok"\} \d/);
  const known = { requestId: "r-1", trace_id: traceId, endpoint: "rest", route: "/v2/users/:id", status: 404 };
  expect(linesOf("r-1")).toContainEqual(expect.objectContaining(known));
});

test("an error in a 200 response is counted, marks the span as failed, and is logged with the request id", async () => {
  await users.database.database.rows("break", "alter table users rename to users_renamed");
  try {
    const response = await sendGraphql(users, "{ user(id: 1) { name } }", {}, { "x-request-id": "r-broken" });
    expect(response.status).toBe(200);
  } finally {
    await users.database.database.rows("repair", "alter table users_renamed rename to users");
  }
  await ended(1);
  const [statement, root] = collector
    .spans()
    .filter(({ parentId, name }) => parentId !== undefined || name !== "break");
  expect([statement?.failed, statement?.attributes["error.type"]]).toEqual([true, "42P01"]);
  expect([root?.failed, root?.attributes["error.type"]]).toEqual([true, "INTERNAL_SERVER_ERROR"]);
  expect(linesOf("r-broken").map(({ level }) => level)).toEqual(["error", "info"]);
  expect(await telemetry.users.writeMetrics()).toContain('graphql_errors_total{code="INTERNAL_SERVER_ERROR"} 1');
});

test("a request that its client aborts is logged with status 499, and its span is not failed", async () => {
  const { database } = users.database;
  const abortController = new AbortController();
  const headers = { ...traced, "x-request-id": "r-aborted" };
  const { signal } = abortController;
  let aborted: Promise<unknown> = Promise.resolve();
  await database.transaction(async (transaction) => {
    await transaction.rows("lock", "lock table users in access exclusive mode");
    users.database.takeStatements();
    aborted = fetch(`${users.url}/rest/v2/users/1`, { headers, signal }).catch((error: unknown) => error);
    await expect.poll(() => users.database.takeStatements()).toContain("find-users");
    abortController.abort();
    await expect.poll(() => linesOf("r-aborted")).toMatchObject([{ status: 499, route: "/v2/users/:id" }]);
  });
  await aborted;
  const root = collector.spans().find(({ name }) => name === "GET /v2/users/:id");
  expect(root).toMatchObject({ failed: false, attributes: { "http.response.status_code": 499 } });
});

/** Starts a comments service as a process that sends its spans to the fake OpenTelemetry collector. */
const start = (environment: Readonly<Record<string, string>> = {}) =>
  startObservedService("comments", {
    postgresUrl: inject("postgresUrl"),
    issuer,
    collectorUrl: otlp.url,
    environment,
  });

test("a process exports its declared metrics on its admin port, and pending spans with its instance id before it exits", async () => {
  const running = await start({
    BUILD_VERSION: "1.2.3",
    BUILD_REVISION: "abc",
    OTEL_SERVICE_NAME: "comments-of-this-test",
  });
  const text = await (await fetch(`${running.adminUrl}/metrics`)).text();
  const exported = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
  const declared = [...Object.keys(metricsOf.service), ...runtimeMetricNames];
  expect(declared.filter((name) => !exported.has(name))).toEqual([]);
  expect(text).toContain('tributary_build_info{version="1.2.3",revision="abc",supergraph="none",instance_id="');
  expect(text).toContain("tributary_service_database_connections_max 10");
  expect((await fetch(`${running.url}/metrics`)).status).toBe(404);
  const ready = await (await fetch(`${running.url}/health/ready`)).json();
  expect(ready).toEqual({ status: "ready", version: "1.2.3", revision: "abc" });
  const [, instanceId = "none"] = /instance_id="([\da-f-]{36})"/.exec(text) ?? [];
  await fetch(`${running.url}/rest/v1/posts/1/comments`);
  expect(await running.stop()).toBe(0);
  const spans = otlp.received().filter((received) => received.includes("comments-of-this-test"));
  expect(spans.filter((received) => received.includes(instanceId))).not.toEqual([]);
});

test("the metrics of the change feed show its streams, the resets sent, and how often it lost its database, which the log has once", async () => {
  const running = await start();
  const metrics = async () => {
    const text = await (await fetch(`${running.adminUrl}/metrics`)).text();
    return Object.fromEntries(
      [...text.matchAll(/^tributary_service_feed_(?!outbox)(\w+) (\d+)$/gm)].map(([, name, n]) => [name, n]),
    );
  };
  const quiet = { streams: "0", resets_sent_total: "0", database_lost_total: "0" };
  expect(await metrics()).toEqual(quiet);
  const open = () => fetch(running.feedUrl, { headers: { authorization: "Bearer for-development-only" } });
  const [first, second] = [await open(), await open()];
  const opened = { ...quiet, streams: "2", resets_sent_total: "2" };
  await expect.poll(() => metrics()).toEqual(opened);
  await first.body?.cancel();
  await expect.poll(() => metrics()).toEqual({ ...opened, streams: "1" });
  const breakFeed = () =>
    running.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'comments-feed'");
  await breakFeed();
  const lost = { ...opened, streams: "0", database_lost_total: "1" };
  await expect.poll(() => metrics()).toEqual(lost);
  // The stream has ended, without an error.
  await second.text();
  await open();
  await expect.poll(() => metrics()).toMatchObject({ streams: "1", resets_sent_total: "3" });
  await breakFeed();
  await expect.poll(() => metrics()).toMatchObject({ database_lost_total: "2" });
  expect(running.written().split("the change feed failed")).toHaveLength(2);
  expect(await running.stop()).toBe(0);
});

test("without the telemetry variables a process has no listener for metrics, exports no spans, and writes no access log", async () => {
  const before = otlp.received().length;
  const running = await start({ ADMIN_PORT: "", OTEL_EXPORTER_OTLP_ENDPOINT: "", ACCESS_LOG: "off", LOG_LEVEL: "" });
  await fetch(`${running.url}/rest/v1/posts/1/comments`);
  expect(running.adminUrl).toBe("");
  expect(await running.stop()).toBe(0);
  expect(running.written()).not.toContain('"request completed"');
  expect(otlp.received()).toHaveLength(before);
});

test("an unreachable collector delays neither responses nor the exit of the process", async () => {
  const running = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
  expect((await fetch(`${running.url}/rest/v1/posts/1/comments`)).status).toBe(200);
  expect(await running.stop()).toBe(0);
});

/** Waits until the spans of so many requests have ended: a span ends after its response is sent. */
async function ended(requests: number): Promise<void> {
  await expect.poll(() => collector.spans().filter(({ kind }) => kind === "server")).toHaveLength(requests);
}

function sendGraphql(
  service: TestService,
  query: string,
  variables: object = {},
  headers: Record<string, string> = {},
) {
  return fetch(`${service.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ query, variables }),
  });
}

function linesOf(requestId: string) {
  return telemetry.users.lines().filter((line) => line["requestId"] === requestId);
}

function countOf(metrics: string, labels: string): number {
  const line = metrics.split("\n").find((one) => one.startsWith(`tributary_service_requests_total{${labels}}`));
  return Number(line?.split(" ").at(-1) ?? 0);
}
