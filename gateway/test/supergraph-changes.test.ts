import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson, composeSupergraph, type RunningSubgraph, startSubgraph } from "./helpers/subgraphs.ts";

let library: Library;
let extra: RunningSubgraph;
let withExtra: string;
let gateway: RunningGateway;

beforeEach(async () => {
  library = await startLibrary();
  extra = await startSubgraph({
    name: "extra",
    typeDefs: "type Query { answer: Int }",
    resolvers: { Query: { answer: () => 42 } },
  });
  withExtra = composeSupergraph([...library.all, extra]);
});
afterEach(async () => {
  await gateway.drain();
  await Promise.all([library.close(), extra.close()]);
});

const loads = (count: number) => gateway.seen("supergraph-loaded", count);

describe("a supergraph in a file", () => {
  test("is swapped under a stream of requests without one failure", async () => {
    gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
    const swapping = new AbortController();
    const answers: unknown[] = [];
    const streams = Array.from({ length: 4 }, async () => {
      while (!swapping.signal.aborted)
        answers.push((await gateway.send("{ books { title stars author { name } } whoAmI }")).body);
    });
    for (let swap = 0; swap < 6; swap++) {
      writeFileSync(gateway.file, swap % 2 === 0 ? withExtra : library.supergraphSdl);
      await loads(swap + 2);
    }
    swapping.abort();
    await Promise.all(streams);
    expect(answers.length).toBeGreaterThan(6);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).not.toHaveProperty("errors");
  });

  test("is pinned by a request until its end", async () => {
    gateway = await startGateway({ supergraphSdl: withExtra });
    const silent = new Promise<ServerResponse>((resolve) => (extra.fault = resolve));
    const asked = gateway.send("{ answer books { title } }");
    const waiting = await silent;
    writeFileSync(gateway.file, library.supergraphSdl);
    await loads(2);
    expect((await gateway.send("{ answer }")).body.errors[0].extensions.code).toBe("GRAPHQL_VALIDATION_FAILED");
    respondJson(waiting, 200, '{"data":{"answer":41}}');
    expect((await asked).body.data).toMatchObject({ answer: 41, books: { 0: { title: "Engines" } } });
  });

  test("is loaded when it is replaced by rename", async () => {
    gateway = await startGateway({
      supergraphSdl: library.supergraphSdl,
      environment: { SUPERGRAPH_POLL_MS: "3600000" },
    });
    writeFileSync(`${gateway.file}.new`, withExtra);
    renameSync(`${gateway.file}.new`, gateway.file);
    await loads(2);
    expect((await gateway.send("{ answer }")).body).toEqual({ data: { answer: 42 } });
  });

  test.each(["3600000", "20"])(
    "is seen when a symlink above it is pointed elsewhere, as Kubernetes does (poll %s ms)",
    async (pollMs) => {
      gateway = await startGateway({});
      const folder = dirname(gateway.file);
      for (const [name, sdl] of [
        ["v1", library.supergraphSdl],
        ["v2", withExtra],
      ] as const) {
        mkdirSync(join(folder, name));
        writeFileSync(join(folder, name, "supergraph.graphql"), sdl);
      }
      symlinkSync("v1", join(folder, "..data"));
      symlinkSync(join("..data", "supergraph.graphql"), join(folder, "linked.graphql"));
      const linked = await startGateway({
        environment: { SUPERGRAPH_FILE: join(folder, "linked.graphql"), SUPERGRAPH_POLL_MS: pollMs },
      });
      await linked.seen("supergraph-loaded");
      symlinkSync("v2", join(folder, "..data_tmp"));
      renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
      await linked.seen("supergraph-loaded", 2);
      expect((await linked.send("{ answer }")).body).toEqual({ data: { answer: 42 } });
      await linked.drain();
    },
  );

  test.each([
    ["is cut off", (sdl: string) => sdl.slice(0, sdl.length / 2)],
    ["is no supergraph", () => "type Query { a: Int }"],
    [
      "needs a directive that the gateway does not enforce",
      (sdl: string) =>
        sdl.replace("schema\n", 'schema\n  @link(url: "https://example.com/guard/v1.0", for: SECURITY)\n'),
    ],
  ])("that %s changes nothing, and the next good one is taken", async (_, spoil) => {
    gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
    writeFileSync(gateway.file, spoil(withExtra));
    await gateway.seen("supergraph-rejected");
    expect((await gateway.send("{ whoAmI }")).body).toEqual({ data: { whoAmI: "anonymous" } });
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
    writeFileSync(gateway.file, withExtra);
    await loads(2);
    expect((await gateway.send("{ answer }")).body).toEqual({ data: { answer: 42 } });
  });

  test("changes nothing if it is removed or becomes empty", async () => {
    gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
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

  test("are reported once for each load of a supergraph that has them", async () => {
    const priced = composeSupergraph([...library.all, { ...extra, typeDefs }]);
    gateway = await startGateway({ supergraphSdl: priced, environment: { PLANNER_WORKERS: "2" } });
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
    gateway = await startGateway({});
    await gateway.seen("supergraph-unavailable");
    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(503);
    const refused = await gateway.send("{ whoAmI }");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.body.errors[0].extensions.code).toBe("SERVICE_UNAVAILABLE");
    expect((await fetch(`${gateway.url}/schema.graphql`)).status).toBe(503);

    writeFileSync(gateway.file, library.supergraphSdl);
    await loads(1);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200);
    expect((await gateway.send("{ whoAmI }")).body).toEqual({ data: { whoAmI: "anonymous" } });
  });
});

describe("a supergraph at a URL", () => {
  let published: { sdl: string; etag: string; status?: number };
  let asked: (string | undefined)[];
  let publisher: Server;

  beforeEach(async () => {
    asked = [];
    published = { sdl: library.supergraphSdl, etag: '"1"' };
    publisher = createServer((request, response) => {
      asked.push(request.headers["if-none-match"]);
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
    startGateway({
      environment: {
        SUPERGRAPH_URL: `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/supergraph?key=secret`,
      },
    });

  test("is polled with its ETag, and swapped when it changes", async () => {
    gateway = await startAtAddress();
    await loads(1);
    await until(() => asked.length >= 3);
    expect(asked.slice(0, 3)).toEqual([undefined, '"1"', '"1"']);
    published = { sdl: withExtra, etag: '"2"' };
    await loads(2);
    expect((await gateway.send("{ answer }")).body).toEqual({ data: { answer: 42 } });
  });

  test.each([500, 302, 404])(
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
      expect(asked.length).toBeGreaterThan(1);
    },
  );
});

describe("addresses of subgraphs", () => {
  test("can be overridden by name", async () => {
    const elsewhere = composeSupergraph(
      library.all.map((subgraph) => ({ ...subgraph, name: `${subgraph.name}-v2`, url: "http://127.0.0.1:1/graphql" })),
    );
    gateway = await startGateway({
      supergraphSdl: elsewhere,
      environment: {
        SUBGRAPH_URL_PEOPLE_V2: library.people.url,
        SUBGRAPH_URL_BOOKS_V2: library.books.url,
        SUBGRAPH_URL_OTHERS: "http://127.0.0.1:1/",
      },
    });
    const { body } = await gateway.send('{ book(isbn: "b1") { author { name } stars } }');
    expect(body.data).toEqual({ book: { author: { name: "Ada" }, stars: null } });
    expect(gateway.observations).toContainEqual({ kind: "override-without-subgraph", variable: "SUBGRAPH_URL_OTHERS" });
  });

  test("are reported if they are missing, and the fields of the subgraph are null", async () => {
    gateway = await startGateway({
      supergraphSdl: composeSupergraph([library.people, library.books, { ...library.ratings, url: "" }]),
    });
    expect(gateway.observations).toContainEqual({ kind: "subgraph-without-address", service: "ratings" });
    const { body } = await gateway.send('{ book(isbn: "b1") { title stars } }');
    expect(body.data).toEqual({ book: { title: "Engines", stars: null } });
    expect(body.errors[0].extensions).toEqual({ code: "SUBGRAPH_UNAVAILABLE", service: "ratings" });
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
