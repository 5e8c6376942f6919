import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { startTestIssuer, type TestIssuer } from "../../kit/src/testing/issuer.ts";
import { services } from "../services.ts";
import { type FakeCollector, startCollector } from "./collector.ts";
import { type ObservedProcess, startObservedEntryPoint, startObservedService } from "./observed-process.ts";

const [first, second] = services as [(typeof services)[number], (typeof services)[number]];
/** Part of every planted secret. */
const mark = "plum4711";
const feedKey = mark.repeat(5);
const closedPort = "127.0.0.1:9";

let issuer: TestIssuer;
let collector: FakeCollector;
let service: ObservedProcess;
beforeAll(async () => {
  [issuer, collector] = await Promise.all([startTestIssuer(), startCollector()]);
  service = await startObservedService(first.name, {
    postgresUrl: inject("postgresUrl"),
    issuer,
    collectorUrl: collector.url,
    environment: { FEED_KEYS: feedKey },
  });
});
afterAll(async () => {
  await Promise.all([service, issuer, collector].map((one) => one.stop()));
});

test("the status of a service has its database, its migrations and the readers of its feed", async () => {
  expect(await readStatus(service.adminUrl)).toMatchObject({
    process: first.name,
    status: "ready",
    version: "development",
    admission: { inFlight: 0, limit: expect.any(Number), waiting: 0 },
    database: {
      connections: expect.any(Number),
      waiting: 0,
      connectionsMax: expect.any(Number),
      migrations: { applied: expect.any(Number), pending: [] },
    },
    feedReaders: 0,
  });
  expect(await readStatus(service.url, "/health/status")).toMatchObject({ process: first.name });
});

test("the status of the gateway has its supergraph, its subgraphs with their owners, caches and limits, and no secret", async () => {
  const gateway = await startObservedEntryPoint("gateway", collector.url, {
    SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
    SETTINGS_FILE: "supergraph/gateway.yaml",
    FEED_KEYS: feedKey,
    [`ENTITY_CACHE_${first.variablePrefix}`]: "on",
    [`SUBGRAPH_FEED_URL_${first.variablePrefix}`]: service.feedUrl,
    [`SUBGRAPH_URL_${first.variablePrefix}`]: `${service.url}/graphql`,
    [`SUBGRAPH_URL_${second.variablePrefix}`]: `http://ada:${mark}@${closedPort}/graphql?key=${mark}`,
  });
  const read = () => readStatus(gateway.adminUrl);
  const status = await read();
  expect(status).toMatchObject({
    process: "gateway",
    status: "ready",
    supergraph: { id: expect.any(String), source: "supergraph/supergraph.graphql", staleSeconds: 0 },
    documents: {
      mode: expect.any(String),
      count: expect.any(Number),
      source: expect.any(String),
      ageSeconds: expect.any(Number),
      staleSeconds: 0,
    },
    caches: { documents: { entries: expect.any(Number), bytes: expect.any(Number) }, entities: { entries: 0 } },
    rateLimits: { readsPerMinute: expect.any(Number), writesPerMinute: expect.any(Number) },
    admission: { inFlight: 0, waiting: 0 },
  });
  expect(status["services"]).toHaveLength(services.length);
  expect(status["services"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ service: first.name, owner: first.owner }),
      {
        service: second.name,
        owner: second.owner,
        breaker: "closed",
        replicas: [{ replica: `http://${closedPort}/graphql`, state: "healthy", inFlight: 0 }],
      },
    ]),
  );
  await expect.poll(async () => JSON.stringify(await read())).toContain('"feed":"up"');
  expect(await gateway.stop()).toBe(0);
});

test("the status of the REST proxy has its routes and services", async () => {
  const addresses = services.map(({ variablePrefix }) => [`${variablePrefix}_URL`, `http://${closedPort}`]);
  const feeds = services.map(({ variablePrefix }) => [`${variablePrefix}_FEED_URL`, "none"]);
  const proxy = await startObservedEntryPoint("rest-proxy", collector.url, {
    ...Object.fromEntries([...addresses, ...feeds]),
    [`${first.variablePrefix}_FEED_URL`]: `http://${closedPort}`,
  });
  const status = await readStatus(proxy.adminUrl);
  expect(status).toMatchObject({
    process: "rest-proxy",
    status: "ready",
    routes: { file: "supergraph/routes.json", versions: [1, 2] },
    caches: { responses: { entries: 0, bytes: 0 } },
  });
  expect(status["services"]).toEqual(
    expect.arrayContaining([
      { service: first.name, breaker: "closed", replicas: [], feed: "down" },
      { service: second.name, breaker: "closed", replicas: [] },
    ]),
  );
  expect(await proxy.stop()).toBe(0);
});

async function readStatus(url: string, path = "/status"): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${url}${path}`);
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text).not.toContain(mark);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}
