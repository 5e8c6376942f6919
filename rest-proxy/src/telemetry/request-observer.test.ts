import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "@tributary/kit/process/log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createNoMetrics } from "@tributary/kit/telemetry/metrics/metrics";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { expect, test } from "vitest";
import type { Route } from "../route/routes.ts";
import { createProxyRequestObserver } from "./request-observer.ts";
import type { RequestRecord } from "./request-record.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceParent = `00-${traceId}-b7ad6b7169203331-00`;
const route = { id: "getThing", path: "/things/:id", service: "things" } as Route;

interface TestRequest extends Partial<Pick<RequestRecord, "route" | "version" | "code" | "failedReplica">> {
  readonly client?: string;
  readonly method?: string;
  readonly status?: number;
}

async function setUp(accessLog: "all" | "sampled" | "off" = "off") {
  const lines: unknown[] = [];
  const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const metrics = await createPrometheus(metricsOf.rest);
  const about = { knownClients: ["shop"], newestVersion: 2, accessLog };
  const observer = createProxyRequestObserver({ log, metrics, trace: noTrace, ...about });
  const send = ({ client, method = "GET", status = 200, ...recorded }: TestRequest) => {
    const headers = { traceparent: traceParent, ...(client === undefined ? {} : { "x-client-name": client }) };
    const request = { method, headers } as unknown as IncomingMessage;
    const response = createResponse(status);
    Object.assign(observer?.begin(request, response, "r-1") ?? {}, recorded);
    response.emit("close");
  };
  return { send, lines, write: () => metrics.write() };
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
  expect(text).toContain('request_duration_seconds_bucket{le="0.01",route="/things/:id",version="2"} 2');
  expect(text).toContain("\ntributary_rest_requests_in_flight 0\n");
});

test("requests for old versions are counted by client name, for known names", async () => {
  const { send, write } = await setUp();
  send({ route, version: 1, client: "shop" });
  send({ route, version: 2, client: "shop" });
  const text = await write();
  expect(text).toContain('old_version_requests_total{client="shop",version="1",route="/things/:id"} 1');
  expect(text).not.toContain('old_version_requests_total{client="shop",version="2"');
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
      service: "things",
      replica: "http://things:4001/ (10.0.0.7)",
      milliseconds: expect.any(Number),
    },
  ]);
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
