import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { silentLog } from "@tributary/kit/process/log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { createSpanCollector } from "@tributary/kit/testing/trace";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFetchObserver } from "../src/telemetry/fetch-observer.ts";
import { createGatewayRequestObserver } from "../src/telemetry/request-observer.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

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
  await vi.waitFor(async () => expect(await write()).toContain(countedAsAborted));
  const text = await write();
  expect(text).toContain('fetches_in_flight{subgraph="books"} 0');
  expect(text).toContain('tributary_gateway_operations_total{operation="unnamed",outcome="aborted"} 1');
  expect(text).not.toMatch(/(?:SUBGRAPH_TIMEOUT"|_count\{subgraph="books")\} [1-9]/);
  const fetch = collector.spans().find(({ name }) => name === "fetch books");
  expect(fetch).toMatchObject({ failed: false, attributes: { "tributary.outcome": "aborted" } });
});

test("a fetch that is aborted by the request's deadline counts as a timeout", async () => {
  const { write } = await start({ REQUEST_TIMEOUT_MS: "500" });
  library.books.fault = () => {};
  await gateway.send("{ books { title } }");
  expect(await write()).toContain('fetches_total{subgraph="books",outcome="SUBGRAPH_TIMEOUT"} 1');
});
