import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type Log, silentLog } from "@tributary/kit/process/log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createNoMetrics } from "@tributary/kit/telemetry/metrics/metrics";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { createSpanCollector } from "@tributary/kit/testing/trace";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createFetchObserver } from "../src/telemetry/fetch-observer.ts";
import { createGatewayRequestObserver } from "../src/telemetry/request-observer.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson } from "./helpers/subgraphs.ts";

describe("the access log", () => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  let library: Library;
  let gateway: RunningGateway;
  /** The default without variables: no metrics, no traces, ACCESS_LOG=sampled. */
  beforeAll(async () => {
    library = await startLibrary();
    const log = { info: (fields: (typeof lines)[number]) => lines.push(fields) } as unknown as Log;
    const metrics = createNoMetrics<typeof metricsOf.gateway>();
    const known = { knownClients: [], knownOperations: [] };
    const requestObserver = createGatewayRequestObserver({
      log,
      metrics,
      trace: noTrace,
      accessLog: "sampled",
      ...known,
    });
    gateway = await startGateway({
      supergraphSdl: library.supergraphSdl,
      observers: { requestObserver, fetchObserver: undefined },
    });
  });
  afterAll(async () => {
    await gateway.drain();
    await library.close();
  });

  const traceId = "0af7651916cd43dd8448eb211c80319c";

  test("a failure is logged with the trace id of the client, which subgraphs get too, although the trace is not recorded", async () => {
    library.ratings.fault = (response) => response.destroy();
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-00`, "x-request-id": "r-7" };
    await gateway.send("{ books { title } }", { headers });
    await gateway.send("{ books { title stars } }", { headers });
    await expect.poll(() => lines).toHaveLength(1);
    const replica = library.ratings.url;
    const failures = [{ service: "ratings", replica, reason: "SUBGRAPH_UNAVAILABLE" }];
    expect(lines).toMatchObject([{ requestId: "r-7", trace_id: traceId, outcome: "partial", status: 200, failures }]);
    const failed = gateway.observations.find(({ kind }) => kind === "subgraph-fetch-failed");
    expect(failed).toMatchObject({ traceId, replica, documentHash: lines[0]?.["documentHash"] });
    expect(library.ratings.requests.at(-1)?.headers["traceparent"]).toMatch(new RegExp(`^00-${traceId}-`));
  });

  test("a response that does not fit the schema is logged with its service, replica and reason", async () => {
    lines.length = 0;
    library.ratings.fault = (response) => respondJson(response, 200, '{"data":{"_entities":[]}}');
    await gateway.send("{ books { stars } }");
    library.ratings.fault = (response) => respondJson(response, 200, '{"data":{"bestBook":"none"}}');
    await gateway.send("{ bestBook { stars } }");
    await expect.poll(() => lines).toHaveLength(2);
    expect(lines.map(({ failures }) => failures)).toEqual([
      [{ service: "ratings", replica: library.ratings.url, reason: "RESPONSE_INVALID" }],
      [{ service: "ratings", replica: undefined, reason: "SUBGRAPH_INVALID_RESPONSE" }],
    ]);
  });

  test("a failure of a request without a trace is logged with a new trace id", async () => {
    lines.length = 0;
    library.ratings.fault = (response) => respondJson(response, 200, '{"errors":[{"message":"broken"}]}');
    const { headers } = await gateway.send("{ books { title stars } }");
    await expect.poll(() => lines).toHaveLength(1);
    expect(lines[0]?.["trace_id"]).toBe(headers.get("traceparent")?.split("-")[1]);
  });
});

describe("metrics and spans", () => {
  let library: Library;
  let gateway: RunningGateway;
  beforeEach(async () => {
    library = await startLibrary();
  });
  afterEach(async () => {
    await gateway.drain();
    await library.close();
  });

  async function start(environment: Record<string, string> = {}) {
    const collector = createSpanCollector();
    const [metrics, trace] = await Promise.all([createPrometheus(metricsOf.gateway), collector.createTrace("gateway")]);
    const about = { log: silentLog, metrics, trace, accessLog: "off", knownClients: [], knownOperations: [] } as const;
    gateway = await startGateway({
      supergraphSdl: library.supergraphSdl,
      environment,
      observers: {
        requestObserver: createGatewayRequestObserver(about),
        fetchObserver: createFetchObserver(metrics, trace),
      },
    });
    return { collector, write: () => metrics.write() };
  }

  test("a client that disconnects causes no failed fetch, span or operation", async () => {
    const { collector, write } = await start();
    const silent = new Promise<ServerResponse>((resolve) => (library.books.fault = resolve));
    const client = new AbortController();
    const asked = gateway.send("{ books { title } }", { signal: client.signal }).catch((error: Error) => error.name);
    const aborted = once(await silent, "close");
    client.abort();
    await Promise.all([aborted, asked]);
    const countedAsAborted = 'tributary_gateway_subgraph_fetches_total{subgraph="books",outcome="aborted"} 1';
    await expect.poll(() => write()).toContain(countedAsAborted);
    const text = await write();
    expect(text).toContain('fetches_in_flight{subgraph="books"} 0');
    expect(text).toContain('tributary_gateway_operations_total{operation="unnamed",outcome="aborted"} 1');
    expect(text).not.toMatch(/(?:SUBGRAPH_TIMEOUT"|_count\{subgraph="books")\} [1-9]/);
    const fetch = collector.spans().find(({ name }) => name === "fetch books");
    expect(fetch).toMatchObject({ failed: false, attributes: { "tributary.outcome": "aborted" } });
  });

  test("a fetch that is aborted by the request's deadline counts as a timeout", async () => {
    const { write } = await start({ REQUEST_TIMEOUT_MS: "1000" });
    library.books.fault = () => {};
    await gateway.send("{ books { title } }");
    expect(await write()).toContain('fetches_total{subgraph="books",outcome="SUBGRAPH_TIMEOUT"} 1');
  });
});
