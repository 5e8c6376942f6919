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

interface Asked extends Partial<Pick<RequestRecord, "route" | "version" | "code" | "failedReplica">> {
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
  const ask = ({ client, method = "GET", status = 200, ...noted }: Asked) => {
    const headers = { traceparent: traceParent, ...(client === undefined ? {} : { "x-client-name": client }) };
    const request = { method, headers } as unknown as IncomingMessage;
    const response = createResponse(status);
    Object.assign(observer?.begin(request, response, "r-1") ?? {}, noted);
    response.emit("close");
  };
  return { ask, lines, write: () => metrics.write() };
}

/** A response of which the client has disconnected for the status 499. */
function createResponse(status: number): ServerResponse {
  const about = { statusCode: status, writableFinished: status !== 499 };
  return Object.assign(new EventEmitter(), about) as unknown as ServerResponse;
}

test("a request is counted by its route, version, method and status", async () => {
  const { ask, write } = await setUp();
  ask({ route, version: 2 });
  ask({ route, version: 2, method: "HEAD", status: 499 });
  ask({ code: "NOT_FOUND", status: 404 });
  const text = await write();
  const counted = (labels: string) => expect(text).toContain(`tributary_rest_requests_total{${labels}} 1`);
  counted('route="/things/:id",version="2",method="GET",status="200"');
  counted('route="/things/:id",version="2",method="HEAD",status="499"');
  counted('route="other",version="none",method="GET",status="404"');
  expect(text).toContain('tributary_rest_refused_total{code="NOT_FOUND"} 1');
  expect(text).toContain('request_duration_seconds_bucket{le="0.01",route="/things/:id",version="2"} 2');
  expect(text).toContain("\ntributary_rest_requests_in_flight 0\n");
});

test("who calls an old version is counted, by the names that are known", async () => {
  const { ask, write } = await setUp();
  ask({ route, version: 1, client: "shop" });
  ask({ route, version: 2, client: "shop" });
  const text = await write();
  expect(text).toContain('old_version_requests_total{client="shop",version="1",route="/things/:id"} 1');
  expect(text).not.toContain('old_version_requests_total{client="shop",version="2"');
  expect(text).toContain('client_requests_total{client="shop",version="2"} 1');
});

test("a thousand names of clients and methods are as many series as one", async () => {
  const { ask, write } = await setUp();
  const countSeries = async () =>
    (await write()).split("\n").filter((line) => line.startsWith("tributary_rest")).length;
  ask({ route, version: 1, client: "x", method: "PURGE" });
  const before = await countSeries();
  for (let i = 0; i < 1_000; i++) ask({ route, version: 1, client: `client-${i}`, method: `M${i}` });
  expect(await countSeries()).toBe(before);
});

test("the sampled access log tells of what is our fault, and not of what is the client's", async () => {
  const { ask, lines } = await setUp("sampled");
  ask({ route, version: 1 });
  ask({ code: "NOT_FOUND", status: 404 });
  ask({ route, version: 1, code: "BAD_GATEWAY", status: 502, failedReplica: "http://things:4001/ (10.0.0.7)" });
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

test("where nobody asks for anything nothing is noted", () => {
  const metrics = createNoMetrics<typeof metricsOf.rest>();
  const about = { log: {} as Log, metrics, trace: noTrace, knownClients: [], newestVersion: 1 };
  expect(createProxyRequestObserver({ ...about, accessLog: "off" })).toBeUndefined();
  expect(createProxyRequestObserver({ ...about, accessLog: "all" })).toBeDefined();
});
