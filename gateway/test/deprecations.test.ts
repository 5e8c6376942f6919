import { hash } from "node:crypto";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { silentLog } from "@tributary/kit/process/log";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createObservationCounts } from "../src/telemetry/observation-counts.ts";
import { createGatewayRequestObserver } from "../src/telemetry/request-observer.ts";
import { type RunningGateway, sendOperation, startGateway } from "./helpers/gateway.ts";
import { spawnGateway, writeSupergraph } from "./helpers/process.ts";
import { composeSupergraph, respondJson, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

const typeDefs = `
  type Query {
    books(filter: Filter, genre: Genre, edition: Int @deprecated(reason: "Use filter.")): [Work]
    novels: [Book] @deprecated(reason: "Use books.")
  }
  type Mutation { add(title: String): Book @deprecated }
  interface Work { title: String name: String @deprecated(reason: "Use title.") }
  type Book implements Work { title: String name: String @deprecated(reason: "Use title.") }
  input Filter { title: String name: String @deprecated(reason: "Use title.") genres: [Genre!] any: [Filter!] }
  enum Genre { FICTION NOVEL @deprecated(reason: "Use FICTION.") }
`;
const books = [{ __typename: "Book", title: "Engines", name: "Engines" }];
const webKey = "key-of-web";
const clientKeys = { CLIENT_KEYS: `web=${hash("sha256", webKey)}` };

let subgraph: RunningSubgraph;
let supergraphSdl: string;
beforeAll(async () => {
  const Query = { books: () => books, novels: () => books };
  subgraph = await startSubgraph({ name: "books", typeDefs, resolvers: { Query, Mutation: { add: () => books[0] } } });
  supergraphSdl = composeSupergraph([subgraph]);
});
afterAll(() => subgraph.close());

/** What each document and its variables use. */
const uses: readonly (readonly [document: string, variables: object, elements: readonly string[]])[] = [
  ["{ books { title } }", {}, []],
  ["{ novels { title name } }", {}, ["Query.novels", "Book.name"]],
  ["{ a: novels { title } b: novels { title } }", {}, ["Query.novels"]],
  ["{ books { name } }", {}, ["Work.name"]],
  ["{ books { ...F } } fragment F on Book { name }", {}, ["Book.name"]],
  ["mutation { add { title } }", {}, ["Mutation.add"]],
  ["{ books(edition: 1) { title } }", {}, ["Query.books.edition"]],
  ["query ($e: Int) { books(edition: $e) { title } }", {}, ["Query.books.edition"]],
  ["{ books(filter: { any: [{ name: null }] }) { title } }", {}, ["Filter.name"]],
  ["{ books(genre: NOVEL) { title } }", {}, ["Genre.NOVEL"]],
  ["query ($g: Genre = NOVEL) { books(genre: $g) { title } }", { g: "FICTION" }, ["Genre.NOVEL"]],
  ["query ($g: Genre) { books(genre: $g) { title } }", { g: "NOVEL" }, ["Genre.NOVEL"]],
  ["query ($g: Genre) { books(genre: $g) { title } }", { g: "FICTION" }, []],
  ["query ($f: Filter) { books(filter: $f) { title } }", {}, []],
  ["query ($f: Filter) { books(filter: $f) { title } }", { f: { title: "a" } }, []],
  ["query ($f: Filter) { books(filter: $f) { title } }", { f: { any: { name: "a" } } }, ["Filter.name"]],
  [
    "query ($f: Filter) { books(filter: $f) { title } }",
    { f: { any: [{ genres: ["FICTION", "NOVEL"] }, { name: "b" }] } },
    ["Genre.NOVEL", "Filter.name"],
  ],
  // The whole document is validated, so a request fails without an element that it skips, or that another operation of its document selects.
  ["query ($no: Boolean = false) { books { title name @include(if: $no) } }", {}, ["Work.name"]],
];

describe.each(["true", "false"])("with FAST_PATH=%s", (fastPath) => {
  let gateway: RunningGateway;
  let production: RunningGateway;
  beforeAll(async () => {
    const environment = { FAST_PATH: fastPath };
    const inProduction = { PROFILE: "production", TRUSTED_PROXIES: "none", CONSISTENCY_KEYS: "a key for these tests" };
    [gateway, production] = await Promise.all([
      startGateway({ supergraphSdl, environment }),
      startGateway({ supergraphSdl, environment: { ...environment, ...inProduction } }),
    ]);
  });
  afterAll(() => Promise.all([gateway.drain(), production.drain()]));

  test.each(uses)("in development the response to %s with %j lists what it uses", async (document, variables, used) => {
    // The fast path takes an operation from its second request on.
    for (const request of [1, 2]) {
      const { body } = await gateway.send(document, { variables });
      expect(body.errors).toBeUndefined();
      const listed = (body.extensions?.deprecations ?? []) as readonly { coordinate: string }[];
      expect(listed.map(({ coordinate }) => coordinate).toSorted(), `request ${request}`).toEqual(used.toSorted());
      expect("extensions" in body).toBe(used.length > 0);
      expect((await production.send(document, { variables })).body.extensions).toBeUndefined();
    }
  });

  test("a deprecation is reported with its reason", async () => {
    const { body } = await gateway.send("{ novels { title } }");
    expect(body.extensions).toEqual({ deprecations: [{ coordinate: "Query.novels", reason: "Use books." }] });
  });

  test("the operation of a document counts what the other operations of the document select", async () => {
    const document = "query A { books { title } } query B { novels { title } }";
    const { body } = await gateway.send(document, { operationName: "A" });
    expect(body.extensions.deprecations).toMatchObject([{ coordinate: "Query.novels" }]);
  });
});

test("each valid request is counted by element and client, on both paths, and only if its name is proven as verified", async () => {
  const { gateway, write } = await startCounting();
  const send = (document: string, headers: Record<string, string> = {}, variables = {}) =>
    gateway.send(document, { headers, variables });
  for (let count = 0; count < 3; count++) await send("{ novels { title } }", { "x-client-key": webKey });
  await send("{ novels { title } }", { "x-client-name": "web" });
  await send("{ novels { title } }", { "x-client-name": "web", "x-client-key": "guessed" });
  await send("{ novels { title } }", { "x-client-name": "new" });
  await send("{ books { title } }", { "x-client-key": webKey });
  await send("{ novels { unknown } }");
  await send("query ($g: Genre!) { books(genre: $g) { title } }", {}, { g: "POEM" });
  for (const g of ["NOVEL", "FICTION", "NOVEL"])
    await send("query ($g: Genre!) { books(genre: $g) { title } }", {}, { g });
  await expect
    .poll(async () => counted(await write()))
    .toEqual([
      'element="Genre.NOVEL",client="unnamed",verified="false"} 2',
      'element="Query.novels",client="other",verified="false"} 1',
      'element="Query.novels",client="web",verified="false"} 2',
      'element="Query.novels",client="web",verified="true"} 3',
    ]);
});

test("every deprecated element of the supergraph has a zero before its first use", async () => {
  const { write } = await startCounting();
  const zeros = (await write()).matchAll(
    /deprecated_requests_total\{element="(.+?)",client="other",verified="false"\} 0/g,
  );
  const elements = [...zeros].map(([, element = ""]) => element).toSorted();
  expect(elements).toEqual([
    "Book.name",
    "Filter.name",
    "Genre.NOVEL",
    "Mutation.add",
    "Query.books.edition",
    "Query.novels",
    "Work.name",
  ]);
});

test("of three processes, a stopped one loses no count, and a killed one what it counted since the last scrape", async () => {
  onTestFinished(() => (subgraph.fault = undefined));
  const file = writeSupergraph(supergraphSdl);
  const processes = await Promise.all([startProcess(file), startProcess(file), startProcess(file)]);
  const prometheus = createScraper(() => processes.map(({ read }) => read));
  const sendAll = (...counts: readonly number[]) =>
    Promise.all(counts.map(async (count, index) => processes[index]?.send(count)));
  const restart = async (index: number) => void (processes[index] = await startProcess(file));
  await sendAll(7, 11, 13);
  expect(await prometheus.scrape()).toBe(31);
  await sendAll(3, 4, 5);

  processes[0]?.child.kill("SIGKILL");
  await processes[0]?.exited;
  const release = Promise.withResolvers<void>();
  subgraph.fault = async (response, _body, _request, resolve) => {
    const result = await resolve();
    await release.promise;
    respondJson(response, 200, JSON.stringify(result));
  };
  const requestsBefore = subgraph.requests.length;
  const pending = processes[1]?.send(1, "{ books { title } }");
  await expect.poll(() => subgraph.requests.length).toBeGreaterThan(requestsBefore);
  processes[1]?.child.kill("SIGTERM");
  await processes[1]?.logged(({ msg }) => msg === "draining");
  // A load balancer sends nothing more, and Prometheus still scrapes.
  expect(await prometheus.scrape()).toBe(31 + 4 + 5);
  release.resolve();
  await pending;
  expect(await processes[1]?.exited).toBe(0);

  await Promise.all([restart(0), restart(1)]);
  await sendAll(5, 6, 1);
  const sent = 31 + 12 + 12;
  const lost = 3;
  expect(await prometheus.scrape()).toBe(sent - lost);
});

async function startProcess(file: string) {
  const variables = { SUPERGRAPH_FILE: file, ADMIN_PORT: "0", DRAIN_DELAY_MS: "0", KNOWN_CLIENTS: "web" };
  const { child, exited, logged } = spawnGateway({ ...variables, ...clientKeys });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [{ url: metricsUrl }, { url }] = await Promise.all([
    logged(({ msg }) => msg === "metrics listening"),
    logged(({ msg }) => msg === "listening"),
    logged(({ observation }) => observation === "supergraph-loaded"),
  ]);
  let counted = 0;
  const read = async () => {
    const text = await (await fetch(String(metricsUrl))).text();
    return Number(/element="Query.novels",client="web",verified="true"\} (\d+)/.exec(text)?.[1] ?? 0);
  };
  return {
    child,
    exited,
    logged,
    read,
    /** Resolves when each request is counted, which is after its response. */
    async send(count: number, query?: string) {
      const request = () =>
        sendOperation(`${String(url)}/graphql`, query ?? "{ novels { title } }", {
          headers: { "x-client-key": webKey },
        });
      await Promise.all(Array.from({ length: count }, request));
      if (query !== undefined) return;
      counted += count;
      await expect.poll(read).toBe(counted);
    },
  };
}

/** Sums up as `increase` of Prometheus does: a value below the last one is that of a new process. @param list how to read each instance. */
function createScraper(list: () => readonly (() => Promise<number>)[]) {
  const last = new Map<number, number>();
  let total = 0;
  return {
    async scrape(): Promise<number> {
      const values = await Promise.all(list().map((read) => read().catch(() => undefined)));
      for (const [instance, value] of values.entries()) {
        if (value === undefined) continue;
        const before = last.get(instance) ?? 0;
        total += value < before ? value : value - before;
        last.set(instance, value);
      }
      return total;
    },
  };
}

async function startCounting() {
  const metrics = await createPrometheus(metricsOf.gateway);
  const about = { log: silentLog, metrics, trace: noTrace, accessLog: "off", knownClients: ["web"] } as const;
  const requestObserver = createGatewayRequestObserver({ ...about, knownOperations: [] });
  const gateway = await startGateway({
    supergraphSdl,
    environment: clientKeys,
    observers: { requestObserver, fetchObserver: undefined },
  });
  onTestFinished(() => gateway.drain());
  gateway.observations.forEach(createObservationCounts(metrics));
  return { gateway, write: () => metrics.write() };
}

function counted(text: string): readonly string[] {
  const lines = [...text.matchAll(/^tributary_gateway_deprecated_requests_total\{(.+\} [1-9]\d*)$/gm)];
  return lines.map(([, line = ""]) => line).toSorted();
}
