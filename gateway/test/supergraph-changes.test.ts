import { renameSync, rmSync, writeFileSync } from "node:fs";
import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PlannerPool } from "../src/engine/plan/planner/planner-pool.ts";
import {
  createTestPlannerPool,
  type GatewayTestOptions,
  type RunningGateway,
  startGateway,
} from "./helpers/gateway.ts";
import { type Library, startLibrary, startRatings } from "./helpers/library.ts";
import { type RunningSubgraph, composeSupergraph, respondJson, startSubgraph } from "./helpers/subgraphs.ts";

let library: Library;
let extra: RunningSubgraph;
let withExtra: string;
let plannerPool: PlannerPool;
let builtPlanCount = 0;
let gateway: RunningGateway;

beforeAll(async () => {
  plannerPool = createTestPlannerPool({
    workers: 2,
    observe: ({ kind }) => void (kind === "plan-built" && builtPlanCount++),
  });
  library = await startLibrary();
  extra = await startSubgraph({
    name: "extra",
    typeDefs: "type Query { answer: Int }",
    resolvers: { Query: { answer: () => 42 } },
  });
  withExtra = composeSupergraph([...library.all, extra]);
});
afterEach(async () => {
  extra.fault = undefined;
  await gateway.drain();
});
afterAll(() => Promise.all([library.close(), extra.close(), plannerPool.close()]));

const start = (o: GatewayTestOptions) => startGateway({ plannerPool, ...o });

const loads = (count: number) => gateway.seen("supergraph-loaded", count);

describe("a supergraph in a file", () => {
  test("is swapped under a stream of requests without one failure", async () => {
    gateway = await start({ supergraphSdl: library.supergraphSdl });
    const swapping = new AbortController();
    const responses: unknown[] = [];
    const streams = Array.from({ length: 4 }, async () => {
      while (!swapping.signal.aborted)
        responses.push((await gateway.send("{ books { title stars author { name } } whoAmI }")).body);
    });
    for (let swap = 0; swap < 3; swap++) {
      writeFileSync(gateway.file, swap % 2 === 0 ? withExtra : library.supergraphSdl);
      await loads(swap + 2);
    }
    swapping.abort();
    await Promise.all(streams);
    expect(responses.length).toBeGreaterThan(3);
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).not.toHaveProperty("errors");
  });

  test("is pinned by a request until its end", async () => {
    gateway = await start({ supergraphSdl: withExtra });
    const silent = new Promise<ServerResponse>((resolve) => (extra.fault = resolve));
    const response = gateway.send("{ answer books { title } }");
    const waiting = await silent;
    writeFileSync(gateway.file, library.supergraphSdl);
    await loads(2);
    expect((await gateway.send("{ answer }")).body.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
    respondJson(waiting, 200, '{"data":{"answer":41}}');
    expect((await response).body.data).toMatchObject({ answer: 41, books: { 0: { title: "Engines" } } });
  });

  test("has the addresses of the subgraphs to which its requests send their later fetches", async () => {
    const nextRatings = await startRatings();
    gateway = await start({ supergraphSdl: library.supergraphSdl });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = new Promise<void>((resolve) => {
      library.books.fault = async (response, _body, _request, executeNormally) => {
        resolve();
        await released;
        respondJson(response, 200, JSON.stringify(await executeNormally()));
      };
    });
    const pinned = gateway.send("{ books { title stars } }");
    await held;
    library.books.fault = undefined;
    writeFileSync(gateway.file, composeSupergraph([library.people, library.books, nextRatings]));
    await loads(2);
    const { body } = await gateway.send("{ books { title stars } }", { headers: { authorization: "Bearer next" } });
    expect(nextRatings.requests).toHaveLength(1);
    release();
    expect((await pinned).body).toEqual(body);
    expect(body).not.toHaveProperty("errors");
    expect(nextRatings.requests).toHaveLength(1);
    await nextRatings.close();
  });

  test("is loaded when it is replaced by rename", async () => {
    gateway = await start({
      supergraphSdl: library.supergraphSdl,
      environment: { SUPERGRAPH_POLL_MS: "3600000" },
    });
    writeFileSync(`${gateway.file}.new`, withExtra);
    renameSync(`${gateway.file}.new`, gateway.file);
    await loads(2);
    expect((await gateway.send("{ answer }")).body).toEqual({ data: { answer: 42 } });
  });

  test.each([
    ["is cut off", (sdl: string) => sdl.slice(0, sdl.length / 2)],
    [
      "needs a directive that the gateway does not enforce",
      (sdl: string) =>
        sdl.replace("schema\n", 'schema\n  @link(url: "https://example.com/guard/v1.0", for: SECURITY)\n'),
    ],
  ])("that %s changes nothing, and the next good one is taken", async (_, spoil) => {
    gateway = await start({ supergraphSdl: library.supergraphSdl });
    writeFileSync(gateway.file, spoil(withExtra));
    await gateway.seen("supergraph-rejected");
    expect((await gateway.send("{ whoAmI }")).body).toEqual({ data: { whoAmI: "anonymous" } });
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
    writeFileSync(gateway.file, withExtra);
    await loads(2);
    expect((await gateway.send("{ answer }")).body).toEqual({ data: { answer: 42 } });
  });

  test("changes nothing if it is removed or becomes empty", async () => {
    gateway = await start({ supergraphSdl: library.supergraphSdl });
    rmSync(gateway.file);
    await gateway.seen("supergraph-unavailable");
    writeFileSync(gateway.file, "");
    expect((await gateway.send("{ whoAmI }")).status).toBe(200);
    expect(gateway.isReady()).toBe(true);
  });
});

describe("directives without effect", () => {
  const typeDefs = `
    extend schema
      @link(url: "https://specs.apollo.dev/federation/v2.12", import: ["@cost", "@listSize", "@composeDirective"])
      @link(url: "https://example.com/team/v1.0", import: ["@owner"])
      @composeDirective(name: "@owner")
    directive @owner(team: String) on FIELD_DEFINITION
    type Query { answer: Int @cost(weight: 2) @owner(team: "a") all: [Int] @listSize(assumedSize: 9) }`;

  test("are reported once for each load of a supergraph that has them, however many planner workers load it", async () => {
    const priced = composeSupergraph([...library.all, { ...extra, typeDefs }]);
    gateway = await start({ supergraphSdl: priced });
    writeFileSync(gateway.file, library.supergraphSdl);
    await loads(2);
    const reported = gateway.observations.filter(({ kind }) => kind.includes("directives"));
    const cost = "https://specs.apollo.dev/cost/v0.1";
    expect(reported).toEqual([
      { kind: "directives-without-effect", directives: [`${cost}#@cost`, `${cost}#@listSize`] },
      { kind: "custom-directives", directives: ["https://example.com/team/v1.0#@owner"] },
    ]);
  });
});

describe("without a supergraph", () => {
  test("the gateway is live and not ready, responds 503 in JSON, and serves as soon as one is loaded", async () => {
    gateway = await start({});
    await gateway.seen("supergraph-unavailable");
    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(503);
    const rejected = await gateway.send("{ whoAmI }");
    expect(rejected.status).toBe(503);
    expect(rejected.headers.get("retry-after")).toBe("1");
    expect(rejected.body.errors[0].extensions.code).toBe("SERVICE_UNAVAILABLE");
    expect((await fetch(`${gateway.url}/schema.graphql`)).status).toBe(503);

    writeFileSync(gateway.file, library.supergraphSdl);
    await loads(1);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
    expect((await gateway.send("{ whoAmI }")).body).toEqual({ data: { whoAmI: "anonymous" } });
  });
});

describe("a supergraph at a URL", () => {
  let published: { sdl: string; etag: string; status?: number };
  let etagsReceived: (string | undefined)[];
  let publisher: Server;

  beforeEach(async () => {
    etagsReceived = [];
    published = { sdl: library.supergraphSdl, etag: '"1"' };
    publisher = createServer((request, response) => {
      etagsReceived.push(request.headers["if-none-match"]);
      if (published.status !== undefined) response.writeHead(published.status, { location: "/elsewhere" }).end();
      else if (request.headers["if-none-match"] === published.etag) response.writeHead(304).end();
      else response.writeHead(200, { etag: published.etag }).end(published.sdl);
    });
    await new Promise<void>((resolve) => publisher.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => {
    publisher.close();
    publisher.closeAllConnections();
  });

  const startAtAddress = () =>
    start({
      environment: {
        SUPERGRAPH_URL: `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/supergraph?key=secret`,
      },
    });

  test("is polled with its ETag, and swapped when it changes", async () => {
    gateway = await startAtAddress();
    await loads(1);
    await until(() => etagsReceived.length >= 3);
    expect(etagsReceived.slice(0, 3)).toEqual([undefined, '"1"', '"1"']);
    published = { sdl: withExtra, etag: '"2"' };
    await loads(2);
    expect((await gateway.send("{ answer }")).body).toEqual({ data: { answer: 42 } });
  });

  test.each([500, 302])(
    "that responds %s at first is polled until it is loaded, and the query string of its URL is not logged",
    async (status) => {
      published.status = status;
      gateway = await startAtAddress();
      await gateway.seen("supergraph-unavailable");
      expect(JSON.stringify(gateway.observations)).not.toContain("secret");
      expect((await gateway.send("{ whoAmI }")).status).toBe(503);
      delete published.status;
      await loads(1);
      expect((await gateway.send("{ whoAmI }")).status).toBe(200);
      expect(etagsReceived.length).toBeGreaterThan(1);
    },
  );
});

describe("addresses of subgraphs", () => {
  test("can be overridden by name", async () => {
    const elsewhere = composeSupergraph(
      library.all.map((subgraph) => ({ ...subgraph, name: `${subgraph.name}-v2`, url: "http://127.0.0.1:1/graphql" })),
    );
    gateway = await start({
      supergraphSdl: elsewhere,
      environment: {
        SUBGRAPH_URL_PEOPLE_V2: library.people.url,
        SUBGRAPH_URL_BOOKS_V2: library.books.url,
        SUBGRAPH_URL_OTHERS: "http://127.0.0.1:1/",
      },
    });
    const { body } = await gateway.send('{ book(isbn: "b1") { author { name } stars } }');
    expect(body.data).toEqual({ book: { author: { name: "Ada" }, stars: null } });
    expect(gateway.observations).toContainEqual({ kind: "variable-without-subgraph", variable: "SUBGRAPH_URL_OTHERS" });
  });

  test("are reported if they are missing, and the fields of the subgraph are null", async () => {
    gateway = await start({
      supergraphSdl: composeSupergraph([library.people, library.books, { ...library.ratings, url: "" }]),
    });
    expect(gateway.observations).toContainEqual({ kind: "subgraph-without-address", service: "ratings" });
    const { body } = await gateway.send('{ book(isbn: "b1") { title stars } }');
    expect(body.data).toEqual({ book: { title: "Engines", stars: null } });
    expect(body.errors[0].extensions).toEqual({ code: "SUBGRAPH_UNAVAILABLE", service: "ratings" });
  });
});

describe("plans for the next supergraph", () => {
  beforeEach(async () => {
    gateway = await start({ supergraphSdl: library.supergraphSdl });
    builtPlanCount = 0;
  });

  test("used operations are planned for the next supergraph before it is used, without fetches", async () => {
    await gateway.send("{ books { title stars } }");
    await gateway.send("query Named { people { name } }");
    const fetches = library.all.flatMap(({ requests }) => requests).length;

    await publish(`${library.supergraphSdl}\n# 2\n`);
    expect(builtPlanCount).toBe(4);
    expect(library.all.flatMap(({ requests }) => requests)).toHaveLength(fetches);

    expect((await gateway.send("query Named { people { name } }")).body.data.people).toHaveLength(2);
    expect((await gateway.send("{ books { title stars } }")).body).not.toHaveProperty("errors");
    await publish(`${library.supergraphSdl}\n# 3\n`);
    expect(builtPlanCount).toBe(6);
  });

  test("each used combination of conditions is planned", async () => {
    const query = "query ($full: Boolean!) { books { title stars @include(if: $full) } }";
    for (const full of [true, false]) await gateway.send(query, { variables: { full } });
    expect(builtPlanCount).toBe(2);
    await publish(`${library.supergraphSdl}\n# 2\n`);
    expect(builtPlanCount).toBe(4);
  });

  test("each combination of override labels is planned, also of labels that only the next supergraph has", async () => {
    await gateway.send("{ books { title stars } }");
    expect(builtPlanCount).toBe(1);
    const typeDefs = `
      extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@override"])
      type Book @key(fields: "isbn") { isbn: ID! stars: Int @override(from: "ratings", label: "percent(50)") }`;
    await publish(composeSupergraph([...library.all, { name: "reviews", url: "", typeDefs }]));
    expect(builtPlanCount).toBe(3);
  });

  test("operations that are not valid in the next supergraph are skipped, and the others are warmed", async () => {
    for (let times = 0; times < 2; times++) await gateway.send("{ whoAmI }");
    await gateway.send("{ books { title } }");
    await publish(library.supergraphSdl.replaceAll("whoAmI", "whoAreYou"));
    expect(builtPlanCount).toBe(3);
    expect((await gateway.send("{ whoAmI }")).body.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
  });

  async function publish(supergraphSdl: string): Promise<void> {
    const loadedCount = gateway.observations.filter(({ kind }) => kind === "supergraph-loaded").length;
    writeFileSync(gateway.file, supergraphSdl);
    await loads(loadedCount + 1);
  }
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
