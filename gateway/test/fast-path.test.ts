import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RawRequest, sendToBoth } from "./helpers/compare-paths.ts";
import { sendOperation, startMirror } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import type { MirrorGateway } from "./helpers/mirror-gateways.ts";
import { respondJson } from "./helpers/subgraphs.ts";

describe("the fast path", () => {
  const folder = mkdtempSync(join(tmpdir(), "fast-path-test-"));
  const file = join(folder, "supergraph.graphql");
  let library: Library;
  let gateway: MirrorGateway;

  beforeAll(async () => {
    library = await startLibrary();
    writeFileSync(file, library.supergraphSdl);
  });
  afterEach(() => gateway.drain());
  afterAll(async () => {
    await library.close();
    rmSync(folder, { recursive: true });
  });

  async function start(environment: Record<string, string> = {}) {
    const about = { graphiqlFolder: folder, environment: { SUPERGRAPH_FILE: file, PORT: "0", ...environment } };
    gateway = await startMirror(about, true);
    return (query: string, headers: Record<string, string> = {}) =>
      sendOperation(`http://127.0.0.1:${gateway.port}/graphql`, query, { headers });
  }

  test("the fast path takes an operation from its second request on", async () => {
    const post = await start();
    await post("{ whoAmI }");
    expect(gateway.tookFastPath()).toBe(false);
    await post("{ whoAmI }");
    expect(gateway.tookFastPath()).toBe(true);
  });

  test("the fast path takes an operation that was sent by GET before", async () => {
    const post = await start();
    const headers = { "apollo-require-preflight": "1" };
    await fetch(`http://127.0.0.1:${gateway.port}/graphql?query=${encodeURIComponent("{ whoAmI }")}`, { headers });
    await post("{ whoAmI }");
    expect(gateway.tookFastPath()).toBe(true);
  });

  test("FAST_PATH=false switches the fast path off", async () => {
    const post = await start({ FAST_PATH: "false" });
    for (let times = 0; times < 2; times++) await post("{ whoAmI }");
    expect(gateway.tookFastPath()).toBe(false);
  });

  test("with disabled introspection the fast path is on", async () => {
    const post = await start({ INTROSPECTION: "false" });
    for (let times = 0; times < 2; times++) await post("{ whoAmI }");
    expect(gateway.tookFastPath()).toBe(true);
    expect((await post("{ __schema { queryType { name } } }")).body.errors[0].extensions.code).toBe(
      "INTROSPECTION_DISABLED",
    );
  });

  test("while the process drains, responses of the fast path close their connections", async () => {
    const post = await start({ DRAIN_DELAY_MS: "400" });
    await post("{ whoAmI }");
    expect((await post("{ whoAmI }")).headers.get("connection")).toBe("keep-alive");
    const drained = gateway.drain();
    expect((await post("{ whoAmI }")).headers.get("connection")).toBe("close");
    expect(gateway.tookFastPath()).toBe(true);
    await drained;
  });

  test("the fetches of a client that disconnects on the fast path are aborted", async () => {
    const post = await start();
    await post("{ whoAmI }");
    const aborted = new Promise<void>((resolve) => {
      library.people.fault = (response) => void response.on("close", resolve);
    });
    const requested = new Promise<void>((resolve) => {
      const { fault } = library.people;
      library.people.fault = (...all) => (resolve(), fault?.(...all));
    });
    const client = new AbortController();
    const left = fetch(`http://127.0.0.1:${gateway.port}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"query":"{ whoAmI }"}',
      signal: client.signal,
    }).catch((error: Error) => error.name);
    await requested;
    client.abort();
    await aborted;
    expect(await left).toBe("AbortError");
    expect(gateway.tookFastPath()).toBe(true);
    library.people.fault = undefined;
  });

  test("a response that the client does not read is cut on the fast path, too", async () => {
    const post = await start({ RESPONSE_TIMEOUT_MS: "300" });
    await post("{ whoAmI }");
    library.people.fault = (response) =>
      respondJson(response, 200, JSON.stringify({ data: { whoAmI: "x".repeat(9e6) } }));
    const response = await fetch(`http://127.0.0.1:${gateway.port}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", "accept-encoding": "identity" },
      body: '{"query":"{ whoAmI }"}',
    });
    expect(gateway.tookFastPath()).toBe(true);
    await gateway.seen("response-truncated");
    await expect(response.text()).rejects.toThrow("terminated");
    library.people.fault = undefined;
  });
});

describe("both paths", () => {
  // One request of each kind. COMPARE_PATHS=true sends all requests of the suite through both paths, see helpers/mirror-gateways.ts.
  const folder = mkdtempSync(join(tmpdir(), "paths-test-"));
  let library: Library;
  let full: MirrorGateway;
  let fast: MirrorGateway;

  beforeAll(async () => {
    library = await startLibrary();
    const file = join(folder, "supergraph.graphql");
    writeFileSync(file, library.supergraphSdl);
    const start = (fastPath: string) =>
      startMirror({ graphiqlFolder: folder, environment: { ...environment(file), FAST_PATH: fastPath } }, true);
    [full, fast] = await Promise.all([start("false"), start("true")]);
  });
  afterEach(() => {
    for (const subgraph of library.all) subgraph.fault = undefined;
  });
  afterAll(async () => {
    await Promise.all([full.drain(), fast.drain()]);
    await library.close();
    rmSync(folder, { recursive: true });
  });

  const environment = (file: string) => ({
    SUPERGRAPH_FILE: file,
    PORT: "0",
    GRAPHQL_BODY_BYTES_MAX: "3000",
    SUBGRAPH_TIMEOUT_MS: "1500",
    CORS_ORIGINS: "https://shop.example",
  });

  const books = "{ books { title stars author { name } } whoAmI }";
  const person = "query A($id: ID!) { person(id: $id) { name } } query B { whoAmI }";
  const long = "{ list(first: 500) }";
  const json = ["Host", "x", "Content-Type", "application/json"];
  const modern = ["Accept", "application/graphql-response+json"];
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");
  const persisted = (text: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hash(text) } } });

  describe("on the fast path, with the same status, headers and bytes:", () => {
    test.each<readonly [string, RawRequest]>([
      ["a query", post({ query: books })],
      ["a query without fetches", post({ query: "{ __typename }" })],
      ["introspection", post({ query: "{ __schema { queryType { name } } }" })],
      ["a mutation", post({ query: 'mutation { addBook(title: "T") { isbn title } }' })],
      ["one operation of two", post({ query: person, operationName: "A", variables: { id: "1" } })],
      ["wrong variables", post({ query: person, operationName: "A", variables: { id: {} } })],
      ["invalid variables, rejected with 400", post({ query: person, operationName: "A" }, [...json, ...modern])],
      ["null for what may be missing", post({ query: books, operationName: null, variables: null, extensions: null })],
      ["deferred fields", post({ query: "{ whoAmI ... @defer { list(first: 3) @stream } }" })],
      ["other members", post({ query: books, id: 1 })],
      ["GraphQL's own media type", post({ query: books }, [...json, ...modern])],
      ["a choice of media types", post({ query: books }, [...json, "Accept", "application/json;q=0.1, */*"])],
      [
        "an id and a trace",
        post({ query: books }, [
          ...json,
          "X-Request-Id",
          "r-1",
          "traceparent",
          `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
        ]),
      ],
      [
        "an invalid id and trace",
        post({ query: books }, [...json, "X-Request-Id", "a b<script>", "traceparent", "00-0-0-01"]),
      ],
      ["a page of an allowed origin", post({ query: books }, [...json, "Origin", "https://shop.example"])],
      ["a page of another origin", post({ query: books }, [...json, "Origin", "https://evil.example"])],
      ["a long response, compressed", post({ query: long }, [...json, "Accept-Encoding", "gzip"])],
      [
        "a long response, compressed by the preferred encoding",
        post({ query: long }, [...json, "Accept-Encoding", "gzip;q=0.5, br"]),
      ],
      ["a long response, not compressed", post({ query: long })],
      ["a very long response", post({ query: "{ list(first: 20000) }" })],
      ["a token", post({ query: "{ whoAmI }" }, [...json, "Authorization", "Bearer t"])],
      ["a body in chunks", { ...post({ query: books }), isChunked: true }],
      ["a charset", post({ query: books }, ["Host", "x", "Content-Type", "Application/JSON; charset=UTF-8"])],
      ["a body compressed with gzip", pack(gzipSync, "gzip")],
      ["a body compressed with deflate", pack(deflateSync, "deflate")],
      ["a body compressed with br", pack(brotliCompressSync, "br")],
      ["no Host in HTTP/1.0", post({ query: books }, json.slice(2), "POST /graphql HTTP/1.0")],
    ])("%s", async (_, request) => {
      const { full: expected, cold, warm, isFast } = await sendToBoth(request, { full, fast });
      expect(expected).toMatch(/^HTTP\/1\.1 [24]/);
      expect([cold, warm]).toEqual([expected, expected]);
      expect(isFast).toBe(true);
    });

    test("a persisted query by its hash alone", async () => {
      await sendToBoth(post({ query: books, ...persisted(books) }), { full, fast });
      const { full: expected, cold, warm, isFast } = await sendToBoth(post(persisted(books)), { full, fast });
      expect(expected).toContain('"title":"Engines"');
      expect([cold, warm]).toEqual([expected, expected]);
      expect(isFast).toBe(true);
    });

    test.each([
      ["closes its connections", (response: Parameters<typeof respondJson>[0]) => void response.destroy()],
      ["is silent", () => undefined],
      [
        "sends a string instead of a list",
        (response: Parameters<typeof respondJson>[0]) => respondJson(response, 200, '{"data":{"books":"x"}}'),
      ],
      [
        "responds with errors",
        (response: Parameters<typeof respondJson>[0]) =>
          respondJson(response, 200, '{"errors":[{"message":"secret"}]}'),
      ],
    ])("a subgraph that %s", async (_, fault) => {
      library.books.fault = fault;
      const { full: expected, cold, warm, isFast } = await sendToBoth(post({ query: books }), { full, fast });
      expect(expected).toMatch(/"errors":\[[^]*"books":null/);
      expect([cold, warm]).toEqual([expected, expected]);
      expect(isFast).toBe(true);
    });
  });

  describe("on the full path, after the fast path has read the request:", () => {
    test.each<readonly [string, RawRequest]>([
      ["a syntax error", post({ query: "{ books {" })],
      ["a field that is not there", post({ query: "{ boks { title } }" }, [...json, ...modern])],
      ["an operation that is not there", post({ query: person, operationName: "C" })],
      ["several operations and no name", post({ query: person })],
      ["too deep a document", post({ query: `${"{ a ".repeat(51)}${"}".repeat(51)}` })],
      ["a batch", post([{ query: books }])],
      ["no query", post({})],
      ["broken JSON", { ...post({}), body: Buffer.from('{"query":') }],
      ["bytes that are not UTF-8", { ...post({}), body: Buffer.from('{"query":"{ whoAmI }","x":"\xff"}', "latin1") }],
      [
        "variables too deep",
        {
          ...post({}),
          body: Buffer.from(`{"query":"{whoAmI}","variables":{"a":${"[".repeat(600)}${"]".repeat(600)}}}`),
        },
      ],
      ["too large a body", post({ query: "{ whoAmI }", variables: { x: "x".repeat(5_000) } })],
      [
        "too large a body in chunks",
        { ...post({ query: "{ whoAmI }", variables: { x: "x".repeat(5_000) } }), isChunked: true },
      ],
      ["too large a body after decompression", pack(gzipSync, "gzip", { query: books, x: "x".repeat(50_000) })],
      ["a body with an unknown encoding", post({ query: books }, [...json, "Content-Encoding", "compress"])],
      ["an incomplete compressed body", { ...pack(gzipSync, "gzip"), body: gzipSync("{}").subarray(0, 8) }],
      ["another media type", post({ query: books }, ["Host", "x", "Content-Type", "text/plain"])],
      ["another charset", post({ query: books }, ["Host", "x", "Content-Type", "application/json; charset=utf-16"])],
      ["no media type", post({ query: books }, ["Host", "x"])],
      ["a request that accepts no JSON", post({ query: books }, [...json, "Accept", "text/html"])],
      ["two hosts", post({ query: books }, [...json, "Host", "y"])],
      ["no host", post({ query: books }, json.slice(2))],
      ["an unknown persisted query", post(persisted("{ unheardOf }"))],
      ["a persisted query that is registered", post({ query: "{ whoAmI }", ...persisted("{ whoAmI }") })],
      ["a persisted query with a wrong hash", post({ query: "{ books { isbn } }", ...persisted("{ whoAmI }") })],
      ["a query by GET", get("/graphql?query={whoAmI}", ["Apollo-Require-Preflight", "1"])],
      ["a GET without a CSRF header", get("/graphql?query={whoAmI}")],
      ["a GET with a content type", get("/graphql?query={whoAmI}", ["Content-Type", "message/external-body"])],
      [
        "a mutation by GET",
        get(`/graphql?query=${encodeURIComponent('mutation{addBook(title:"x"){isbn}}')}`, [
          "Apollo-Require-Preflight",
          "1",
        ]),
      ],
      ["a page", get("/graphql", ["Accept", "text/html"])],
      [
        "a preflight",
        {
          ...get("/graphql", ["Origin", "https://shop.example", "Access-Control-Request-Method", "POST"]),
          line: "OPTIONS /graphql HTTP/1.1",
        },
      ],
      ["an unknown method", { ...get("/graphql"), line: "PUT /graphql HTTP/1.1" }],
      ["HEAD", { ...get("/graphql"), line: "HEAD /graphql HTTP/1.1" }],
      ["QUERY", post({ query: books }, json, "QUERY /graphql HTTP/1.1")],
      ["a POST with a search part", post({ query: books }, json, "POST /graphql?x=1 HTTP/1.1")],
      ["another address", post({ query: books }, json, "POST /nothing HTTP/1.1")],
      ["a target that is no address", post({ query: books }, json, "POST http://[::1/graphql HTTP/1.1")],
      ["the schema", get("/schema.graphql")],
    ])("%s", async (_, request) => {
      const { full: expected, cold, warm, isFast } = await sendToBoth(request, { full, fast });
      expect(expected).toMatch(/^HTTP\/1\.1 [24]/);
      expect([cold, warm]).toEqual([expected, expected]);
      expect(isFast).toBe(false);
    });
  });

  function post(body: unknown, headers: readonly string[] = json, line = "POST /graphql HTTP/1.1"): RawRequest {
    return { line, headers, body: Buffer.from(JSON.stringify(body)) };
  }

  function get(target: string, headers: readonly string[] = []): RawRequest {
    return { line: `GET ${target} HTTP/1.1`, headers: ["Host", "x", ...headers], body: Buffer.of() };
  }

  function pack(packer: (bytes: string) => Buffer, encoding: string, body: object = { query: books }): RawRequest {
    return { ...post({}, [...json, "Content-Encoding", encoding]), body: packer(JSON.stringify(body)) };
  }
});
