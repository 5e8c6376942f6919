import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { DeadlinePassed } from "@tributary/kit/http/abort-source";
import { AppError } from "@tributary/kit/errors/app-error";
import { createLog, silentLog, type Log } from "@tributary/kit/process/log";
import { createFailureLog, type Failure } from "@tributary/kit/telemetry/failure-log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createNoMetrics } from "@tributary/kit/telemetry/metrics/metrics";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { expect, onTestFinished, test } from "vitest";
import { ClientDisconnected, badGateway, gatewayTimeout } from "../errors/service-failure.ts";
import { loadRoutes, type Route } from "../route/routes.ts";
import { createCacheObserver } from "./cache-counts.ts";
import { createObservationCounts } from "./observation-counts.ts";
import { createObserver } from "./observations.ts";
import { createProxyTelemetry } from "./proxy-telemetry.ts";
import { createProxyRequestObserver } from "./request-observer.ts";
import type { RequestRecord } from "./request-record.ts";
import { createServiceObservers } from "./service-observer.ts";

const routes = loadRoutes(fileURLToPath(new URL("../../../supergraph/routes.json", import.meta.url)));
const oldRoutes = routes.filter(({ versions }) => versions.includes(1));

test("clients that are not configured have zeros for each old route, however many clients are configured", async () => {
  const telemetry = await createProxyTelemetry(
    {
      adminPort: 0,
      adminHost: "127.0.0.1",
      accessLog: "off",
      tracing: { endpoint: undefined, serviceName: "rest-proxy", sampler: "always_off", ratio: 0, callers: "clients" },
      build: { version: "1", revision: "1" },
      logLevel: "silent",
      feedUrls: {},
      retirements: [
        { version: 1, deprecatedAtMs: Date.parse("2027-01-01"), sunsetAtMs: Date.parse("2027-06-01") },
        { version: 2, deprecatedAtMs: undefined, sunsetAtMs: undefined },
      ],
      knownClients: Array.from({ length: 100 }, (_, number) => `client-${number}`),
    },
    routes,
  );
  const admin = await telemetry.startAdmin();
  onTestFinished(async () => {
    await admin?.close();
    await telemetry.stop();
  });
  const text = await (await fetch(`${admin?.url}/metrics`)).text();
  for (const client of ["other", "unnamed"])
    for (const { method, path } of oldRoutes)
      expect(text).toContain(
        `tributary_rest_old_version_requests_total{client="${client}",verified="false",version="1",method="${method}",route="${path}"} 0\n`,
      );
  expect(text.match(/^tributary_rest_version_retirement_timestamp_seconds\{.*$/gm)).toEqual([
    'tributary_rest_version_retirement_timestamp_seconds{version="1",step="deprecation"} 1798761600',
    'tributary_rest_version_retirement_timestamp_seconds{version="1",step="sunset"} 1811808000',
  ]);
});

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceParent = `00-${traceId}-b7ad6b7169203331-00`;
const route = { id: "getThing", method: "GET", path: "/things/:id", service: "things" } as Route;

interface TestRequest extends Partial<
  Pick<RequestRecord, "route" | "version" | "code" | "failedReplica" | "isRejectedByAdmission">
> {
  readonly client?: string;
  readonly isVerified?: boolean;
  readonly method?: string;
  readonly status?: number;
  readonly deadlineMs?: string;
  /** Since the request has arrived. */
  readonly milliseconds?: number;
}

async function setUp(accessLog: "all" | "sampled" | "off" = "off") {
  const lines: unknown[] = [];
  const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const metrics = await createPrometheus(metricsOf.rest);
  const about = { knownClients: ["shop"], newestVersion: 2, accessLog };
  const observer = createProxyRequestObserver({ log, metrics, trace: noTrace, ...about });
  const send = ({ client, isVerified = false, method = "GET", status = 200, ...o }: TestRequest) => {
    const { deadlineMs, milliseconds = 0, ...recorded } = o;
    const headers = { traceparent: traceParent, "x-deadline-ms": deadlineMs };
    const request = { method, headers } as unknown as IncomingMessage;
    const arrivedMs = performance.now() - milliseconds;
    const response = createResponse(status);
    const program = { name: client, version: undefined, isVerified };
    Object.assign(observer?.begin(request, response, "r-1", arrivedMs) ?? {}, { client: program, ...recorded });
    response.emit("close");
  };
  return { send, lines, write: () => metrics.write(), close: () => observer?.close() };
}

/** A response; for 499 the client has disconnected. */
function createResponse(status: number): ServerResponse {
  const about = { statusCode: status, writableFinished: status !== 499 };
  return Object.assign(new EventEmitter(), about) as unknown as ServerResponse;
}

test("a request is counted by its route, version, method and status", async () => {
  const { send, write } = await setUp();
  send({ route, version: 2 });
  send({ route, version: 2, method: "HEAD", status: 499 });
  send({ code: "NOT_FOUND", status: 404 });
  const text = await write();
  const counted = (labels: string) => expect(text).toContain(`tributary_rest_requests_total{${labels}} 1`);
  counted('route="/things/:id",version="2",method="GET",status="200"');
  counted('route="/things/:id",version="2",method="HEAD",status="499"');
  counted('route="other",version="none",method="GET",status="404"');
  expect(text).toContain('tributary_rest_rejected_total{code="NOT_FOUND"} 1');
  expect(text).toContain('request_duration_seconds_bucket{le="+Inf",route="/things/:id",version="2"} 2');
  expect(text).toContain("\ntributary_rest_requests_in_flight 0\n");
});

test.each([
  ["at the client's deadline", 504, { deadlineMs: "1000", milliseconds: 1_000 }, 499],
  ["by the service, a little before it", 503, { deadlineMs: "1000", milliseconds: 951 }, 499],
  ["at the shortest deadline", 504, { deadlineMs: "1", milliseconds: 50 }, 499],
  ["before it", 504, { deadlineMs: "1000", milliseconds: 900 }, 504],
  ["without one", 504, { milliseconds: 1_000_000 }, 504],
  ["with a malformed one", 504, { deadlineMs: "0x1", milliseconds: 60 }, 504],
])("a request that fails %s counts as %i or given up by the client", async (_, status, o, counted) => {
  const { send, write } = await setUp();
  send({ route, version: 2, status, ...o });
  send({ route, version: 2, status: 404, ...o });
  const text = await write();
  for (const expected of [counted, 404])
    expect(text).toContain(`requests_total{route="/things/:id",version="2",method="GET",status="${expected}"} 1`);
});

test("requests for old versions are counted by route and client, and by whether the client's name is proven", async () => {
  const { send, write } = await setUp();
  send({ route, version: 1, client: "shop" });
  send({ route, version: 1, client: "shop", method: "HEAD" });
  send({ route, version: 1, client: "shop", isVerified: true });
  send({ route, version: 1, client: "spoofer" });
  send({ route, version: 2, client: "shop" });
  const text = await write();
  expect(text.match(/^tributary_rest_old_version_requests_total\{.*$/gm)).toEqual(
    [
      '{client="shop",verified="false",version="1",method="GET",route="/things/:id"} 2',
      '{client="shop",verified="true",version="1",method="GET",route="/things/:id"} 1',
      '{client="other",verified="false",version="1",method="GET",route="/things/:id"} 1',
    ].map((series) => `tributary_rest_old_version_requests_total${series}`),
  );
  expect(text).toContain('client_requests_total{client="shop",version="2"} 1');
});

test("a thousand unknown client names and methods need no more series than one", async () => {
  const { send, write } = await setUp();
  const countSeries = async () =>
    (await write()).split("\n").filter((line) => line.startsWith("tributary_rest")).length;
  send({ route, version: 1, client: "x", method: "PURGE" });
  const before = await countSeries();
  for (let i = 0; i < 1_000; i++) send({ route, version: 1, client: `client-${i}`, method: `M${i}` });
  expect(await countSeries()).toBe(before);
});

test("the sampled access log contains server errors and no client errors", async () => {
  const { send, lines } = await setUp("sampled");
  send({ route, version: 1 });
  send({ code: "NOT_FOUND", status: 404 });
  send({ route, version: 1, code: "BAD_GATEWAY", status: 502, failedReplica: "http://things:4001/ (10.0.0.7)" });
  expect(lines).toEqual([
    {
      requestId: "r-1",
      trace_id: traceId,
      route: "/things/:id",
      version: 1,
      method: "GET",
      status: 502,
      code: "BAD_GATEWAY",
      client: "unnamed",
      clientVerified: false,
      service: "things",
      replica: "http://things:4001/ (10.0.0.7)",
      milliseconds: expect.any(Number),
    },
  ]);
});

test("of a thousand failed requests the first of each service, route, status and code is logged, the others are counted", async () => {
  const { send, lines, close } = await setUp("sampled");
  for (let i = 0; i < 500; i++) {
    send({ route, version: 1, code: "BAD_GATEWAY", status: 502, failedReplica: `http://10.0.0.${i}` });
    send({ status: 503, code: "SERVICE_UNAVAILABLE" });
  }
  close();
  const kinds = [
    { service: "things", route: "/things/:id", status: 502, code: "BAD_GATEWAY" },
    { route: "other", status: 503, code: "SERVICE_UNAVAILABLE" },
  ];
  const counted = { observation: "failed-requests-counted", count: 499 };
  expect(lines).toMatchObject([...kinds, ...kinds.map((kind) => ({ ...kind, ...counted }))]);
});

test("a request that admission rejects has no line in the sampled access log, since admission counts it", async () => {
  const { send, lines, close } = await setUp("sampled");
  send({ route, version: 1, status: 503, code: "SERVICE_UNAVAILABLE", isRejectedByAdmission: true });
  close();
  expect(lines).toEqual([]);
});

test("a 5xx is logged without metrics and traces too, with the trace id of its response", () => {
  const lines: unknown[] = [];
  const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const metrics = createNoMetrics<typeof metricsOf.rest>();
  const about = { log, metrics, trace: noTrace, knownClients: [], newestVersion: 1 };
  const observer = createProxyRequestObserver({ ...about, accessLog: "sampled" });
  const request = { method: "GET", headers: { traceparent: traceParent } } as unknown as IncomingMessage;
  for (const status of [200, 404, 502]) {
    const response = createResponse(status);
    observer?.begin(request, response, "r-1");
    response.emit("close");
  }
  expect(lines).toMatchObject([{ requestId: "r-1", trace_id: traceId, status: 502 }]);
});

test("without metrics, traces and access log there is no observer", () => {
  const metrics = createNoMetrics<typeof metricsOf.rest>();
  const about = { log: {} as Log, metrics, trace: noTrace, knownClients: [], newestVersion: 1 };
  expect(createProxyRequestObserver({ ...about, accessLog: "off" })).toBeUndefined();
  expect(createProxyRequestObserver({ ...about, accessLog: "all" })).toBeDefined();
});

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
  const late = gatewayTimeout(new DeadlinePassed(""));
  const failing = [503, new AppError("BAD_GATEWAY", ""), new ClientDisconnected(""), late, new Error("bug")];
  for (const failure of failing) {
    const request = observer.begin();
    if (typeof failure === "number") request.responded(failure);
    else request.failed(failure);
    request.closed();
  }
  observer.refuse(new AppError("SERVICE_UNAVAILABLE", ""));
  const outcomes = ["ok", "5xx", "BAD_GATEWAY", "INTERNAL_SERVER_ERROR", "SERVICE_UNAVAILABLE"];
  expectLines(await metrics.write(), [
    ...outcomes.map((outcome) => `service_requests_total{service="things",outcome="${outcome}"} 1`),
    'service_requests_total{service="things",outcome="CLIENT_DISCONNECTED"} 2',
    'service_request_duration_seconds_count{service="things"} 6',
    'service_requests_in_flight{service="things"} 1',
  ]);
});

test("observations about replicas and truncated responses are counted by service", async () => {
  const metrics = await createPrometheus(metricsOf.rest);
  const count = createObservationCounts(metrics);
  const replica = "http://things:4001/ (10.0.0.7)";
  count({ kind: "retried", replica, reason: "reset", status: undefined, service: "things" });
  count({ kind: "retry-over-budget", replica, service: "things" });
  count({ kind: "replica-ejected", reason: "failing", replica, pauseMs: 1_000, cause, service: "things" });
  count({ kind: "dns-lookup-failed", host: "things", cause, service: "things" });
  count({ kind: "response-truncated", service: "things", reason: "GATEWAY_TIMEOUT", ...about });
  count({ kind: "response-truncated", reason: "GATEWAY_TIMEOUT", ...about });
  expectLines(await metrics.write(), [
    'service_retries_total{service="things"} 1',
    'service_retries_over_budget_total{service="things"} 1',
    'replica_ejections_total{service="things"} 1',
    'replicas_ejected{service="things",reason="failing"} 1',
    'lookup_failures_total{service="things"} 1',
    'responses_truncated_total{side="service"} 1',
    'responses_truncated_total{side="client"} 1',
  ]);
  count({ kind: "replica-restored", replica, service: "things" });
  for (const kind of ["replica-restored", "replica-removed"] as const) {
    count({ kind: "replica-ejected", reason: "failing", replica, pauseMs: 1_000, cause, service: "things" });
    expectLines(await metrics.write(), ['replicas_ejected{service="things",reason="failing"} 1']);
    count({ kind, replica, service: "things" });
    expectLines(await metrics.write(), ['replicas_ejected{service="things",reason="failing"} 0']);
  }
});

const aboutRequest = {
  requestId: "r-1",
  traceId: "0af7",
  method: "GET",
  route: "/things/:id",
  path: "/v1/things/ada@example.com",
};

test("failures of the platform are logged as warnings or errors, input of clients at debug level", () => {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const log = createLog({ name: "rest-proxy", level: "debug", destination });
  const observe = createObserver(log, createFailureLog(log));
  observe({ kind: "unreadable", code: "HPE_INVALID_METHOD", rejection: "MALFORMED_REQUEST", requestId: "r-2" });
  // By a client that does not read, and by a service.
  for (let i = 0; i < 2; i++) observe({ kind: "response-truncated", reason: "GATEWAY_TIMEOUT", ...aboutRequest });
  observe({ kind: "response-truncated", service: "things", reason: "GATEWAY_TIMEOUT", ...aboutRequest });
  const replica = "http://things:4001/ (10.0.0.7)";
  const failed = { service: "things", replica, code: "BAD_GATEWAY", cause: new Error("refused"), ...aboutRequest };
  for (let i = 0; i < 100; i++) observe({ kind: "service-failed", ...failed });
  observe({ kind: "retried", replica, reason: "reset", status: undefined, service: "things" });
  observe({
    kind: "replica-ejected",
    reason: "failing",
    replica,
    pauseMs: 1_000,
    cause: new Error("reset"),
    service: "things",
  });
  observe({ kind: "replica-restored", replica, service: "things" });
  observe({ kind: "dns-lookup-failed", host: "things", cause: new Error("ENOTFOUND"), service: "things" });
  observe({ kind: "refresh-failed", service: "things", key: "/v1/things/1", cause: new Error("refused") });
  observe({ kind: "old-versions", usage: [{ version: 1, client: "shop", route: "getThing", requests: 7 }] });
  observe({ kind: "bug", cause: new Error("broken"), ...aboutRequest });
  expect(lines.map(({ level }) => level)).toEqual([
    ...["debug", "debug", "debug", "warn", "warn"],
    ...["debug", "warn", "info", "warn"],
    ...["warn", "info", "error"],
  ]);
  expect(lines[10]).toMatchObject({ usage: [{ client: "shop", requests: 7 }] });
  expect(lines[4]).toMatchObject({
    service: "things",
    replica,
    requestId: "r-1",
    trace_id: "0af7",
    err: { message: "refused" },
  });
  expect(lines[4]).toMatchObject({ route: "/things/:id" });
  expect(JSON.stringify(lines)).not.toContain("/v1/");
});

test("failed refreshes are counted for each service, replica and code", () => {
  const failures: Failure[] = [];
  const observe = createObserver(silentLog, { report: (failure) => failures.push(failure), close: () => undefined });
  const replica = "http://things:4001/ (10.0.0.7)";
  for (const cause of [badGateway(new Error("refused"), replica), new Error("broken")])
    observe({ kind: "refresh-failed", service: "things", key: "/v1/things/1", cause });
  expect(failures).toEqual([
    { service: "things", replica, reason: "BAD_GATEWAY" },
    { service: "things", replica: undefined, reason: "REFRESH_FAILED" },
  ]);
});
