import type { Log } from "@tributary/kit/process/log";
import type { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createNoMetrics } from "@tributary/kit/telemetry/metrics/metrics";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createGatewayRequestObserver } from "../src/telemetry/request-observer.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson } from "./helpers/subgraphs.ts";

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
  await vi.waitFor(() => expect(lines).toHaveLength(1));
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
  await vi.waitFor(() => expect(lines).toHaveLength(2));
  expect(lines.map(({ failures }) => failures)).toEqual([
    [{ service: "ratings", replica: library.ratings.url, reason: "RESPONSE_INVALID" }],
    [{ service: "ratings", replica: undefined, reason: "SUBGRAPH_BAD_ANSWER" }],
  ]);
});

test("a failure of a request without a trace is logged with a new trace id", async () => {
  lines.length = 0;
  const { headers } = await gateway.send("{ books { title stars } }");
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(lines[0]?.["trace_id"]).toBe(headers.get("traceparent")?.split("-")[1]);
});
