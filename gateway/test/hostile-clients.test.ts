import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createObservationCounts } from "../src/telemetry/observation-counts.ts";
import { type RunningGateway, comparesPaths, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { sendRaw } from "./helpers/raw-http.ts";
import { type RunningSubgraph, composeSupergraph, respondJson, startSubgraph } from "./helpers/subgraphs.ts";

describe("hostile clients", () => {
  let library: Library;
  let gateway: RunningGateway;

  beforeAll(async () => {
    library = await startLibrary();
    gateway = await startGateway({
      supergraphSdl: library.supergraphSdl,
      environment: { RESPONSE_TIMEOUT_MS: "300" },
    });
  });
  afterEach(() => {
    for (const subgraph of library.all) {
      subgraph.fault = undefined;
      subgraph.requests.length = 0;
    }
  });
  afterAll(async () => {
    await gateway.drain();
    await library.close();
  });

  const asJson = { headers: { "content-type": "application/json" } };
  const body = '{"query":"{ whoAmI }"}';
  const head = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;

  test.each([
    ["no host", `POST /graphql HTTP/1.1\r\n${head}\r\n${body}`],
    ["two hosts", `POST /graphql HTTP/1.1\r\nHost: a\r\nHost: b\r\n${head}\r\n${body}`],
    ["a target that is no address", `GET http://[::1/graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
    ["a target without a host", `GET http:// HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`],
  ])("a request with %s is 400 in JSON", async (_, text) => {
    const response = await sendRaw(gateway.url, text);
    expect(response).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*Content-Type: application\/json/);
    expect(response).toContain('"code":"MALFORMED_REQUEST"');
  });

  test.each(["", "Host: a\r\nHost: b\r\n"])("a health check with the Host lines %j is 400 in JSON", async (hosts) => {
    const response = await sendRaw(gateway.url, `GET /health/ready HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
    expect(response).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\n[^]*Content-Type: application\/json[^]*"malformed request"/,
    );
  });

  test("HTTP/1.0 needs no Host", async () => {
    expect(await sendRaw(gateway.url, `POST /graphql HTTP/1.0\r\n${head}\r\n${body}`)).toContain(
      '{"whoAmI":"anonymous"}',
    );
  });

  test("a client that reads nothing of a file for RESPONSE_TIMEOUT_MS is disconnected", async () => {
    const graphiqlFolder = mkdtempSync(join(tmpdir(), "hostile-clients-"));
    onTestFinished(() => rmSync(graphiqlFolder, { recursive: true }));
    const bytes = 50_000_000;
    mkdirSync(join(graphiqlFolder, "assets"));
    writeFileSync(join(graphiqlFolder, "assets/large.js"), Buffer.alloc(bytes));
    const serving = await startGateway({ graphiqlFolder, environment: { RESPONSE_TIMEOUT_MS: "300" } });
    onTestFinished(() => serving.drain());
    const client = connect(serving.port, "127.0.0.1").pause();
    client.write("GET /graphiql/assets/large.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await sleep(1_500);
    expect((await buffer(client)).length).toBeLessThan(bytes);
  });

  test("a client that disconnects while its body is decompressed causes no fetch", async () => {
    const compressed = gzipSync(JSON.stringify({ query: "{ whoAmI }", variables: { padding: "ab".repeat(400_000) } }));
    const disconnectedCount = gateway.observations.filter(({ kind }) => kind === "client-disconnected").length;
    library.people.requests.length = 0;
    const socket = connect(gateway.port, "127.0.0.1");
    await once(socket, "connect");
    const headers = `Host: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${compressed.length}`;
    socket.write(
      Buffer.concat([Buffer.from(`POST /graphql HTTP/1.1\r\n${headers}\r\n\r\n`), new Uint8Array(compressed)]),
    );
    await setImmediate();
    socket.resetAndDestroy();
    await gateway.seen("client-disconnected", disconnectedCount + 1);
    expect(library.people.requests).toEqual([]);
  });

  // With COMPARE_PATHS=true responses wait for their copies, so this client would wait forever.
  test.skipIf(comparesPaths)("the connection of a client that does not read its response is closed", async () => {
    library.people.fault = (response) =>
      respondJson(response, 200, JSON.stringify({ data: { whoAmI: "x".repeat(9e6) } }));
    const socket = connect(gateway.port, "127.0.0.1", () =>
      socket.write(`POST /graphql HTTP/1.1\r\nHost: x\r\n${head}\r\n${body}`),
    );
    socket.on("error", () => {});
    socket.pause();
    await gateway.seen("response-truncated");
    let read = 0;
    socket.on("data", (chunk) => (read += chunk.length)).resume();
    await once(socket, "close");
    expect(read).toBeLessThan(9e6);
  });

  test("a client that does not close its side after a rejection is disconnected", async () => {
    const socket = connect({ port: gateway.port, host: "127.0.0.1", allowHalfOpen: true });
    let isReset = false;
    socket.on("error", () => (isReset = true)).resume();
    socket.write("no HTTP\r\n\r\n");
    await once(socket, "end");
    const writeMore = () => isReset || (socket.write("x"), false);
    await expect.poll(writeMore).toBe(true);
  });

  test("compressed bytes without output are 413 after the limit of the body", async () => {
    const socket = connect(gateway.port, "127.0.0.1");
    const response = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(String(chunk))));
    socket.on("error", () => {});
    socket.write(
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const send = (bytes: Buffer) =>
      socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]));
    send(Buffer.from([0x78, 0x9c]));
    // Empty stored blocks (RFC 1951, 3.2.4).
    const blocks = Buffer.from("\0\0\0\xff\xff".repeat(20_000), "latin1");
    for (let sent = 0; sent < 12; sent++) send(blocks);
    expect(await response).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test("errors below many lines have their locations", async () => {
    const { body } = await gateway.send(`query (${"\n".repeat(1_000)}$a: ID\r\n $b: ID) { whoAmI\r ...F }`);
    expect(body.errors.map(({ locations }: { locations: unknown }) => locations)).toEqual([
      [{ line: 1_003, column: 5 }],
      [{ line: 1_001, column: 1 }],
      [{ line: 1_002, column: 2 }],
    ]);
  });

  test("a document is at most 250,000 characters long, and has 20 errors", async () => {
    expect((await gateway.send(`{ whoAmI } #${"x".repeat(250_000)}`)).text).toContain("LENGTH_LIMIT_EXCEEDED");
    const { body } = await gateway.send(
      `query (${Array.from({ length: 30 }, (_, i) => `$a${i}: ID`).join(" ")}) { whoAmI }`,
    );
    expect(body.errors).toHaveLength(21);
  });

  test("a document that is nested too deeply is rejected, without internal messages", async () => {
    const nest = (depth: number) => `{ books ${"{ author { books ".repeat(depth)} { title } ${"} }".repeat(depth)} }`;
    library.books.fault = (response) => respondJson(response, 200, '{"data":{"books":[]}}');
    for (const document of [
      nest(950),
      nest(1_200),
      "{a".repeat(3_000) + "}".repeat(3_000),
      `{ book(isbn: ${"[".repeat(4_000)}`,
    ]) {
      const response = await gateway.send(document);
      expect(response.status).toBe(200);
      expect(response.text).not.toMatch(/INTERNAL_SERVER_ERROR|call stack/);
    }
  });

  test.each([
    ["GET", (variables: string) => fetch(`${gateway.url}/graphql?query={whoAmI}&variables=${variables}`, asJson)],
    [
      "POST",
      (variables: string) =>
        fetch(`${gateway.url}/graphql`, {
          ...asJson,
          method: "POST",
          body: `{"query":"{whoAmI}","variables":${variables}}`,
        }),
    ],
  ])("variables that are nested too deeply are 400 by %s", async (_, sendVariables) => {
    const response = await sendVariables(`{"a":${"[".repeat(6_000)}${"]".repeat(6_000)}}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/(The body|`variables`) has more than 500 levels/);
  });

  describe("malformed or ambiguous HTTP", () => {
    const line = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    test.each([
      ["two lengths", `${line}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}`],
      ["a length beside chunks", `${line}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      ["a chunk size that is no number", `${line}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
      ["a folded header", `${line}X-A: b\r\n c: d\r\n\r\n`],
      ["a space before the colon", "GET /graphql HTTP/1.1\r\nHost : x\r\n\r\n"],
      ["no HTTP at all", "hello\r\n\r\n"],
    ])("%s is 400 in JSON and ends the connection", async (_, text) => {
      const response = await sendRaw(gateway.url, text);
      expect(response).toMatch(/^HTTP\/1\.1 400 /);
      expect(response).toMatch(/^Connection: close\r$/m);
      expect(response).toContain(
        '{"errors":[{"message":"The request is not valid HTTP.","extensions":{"code":"MALFORMED_REQUEST"}}]}',
      );
      expect(library.all.flatMap(({ requests }) => requests)).toEqual([]);
    });

    test("too large headers are 431 in JSON", async () => {
      const response = await sendRaw(
        gateway.url,
        `GET /graphql HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`,
      );
      expect(response).toMatch(/^HTTP\/1\.1 431 /);
      expect(response).toContain("HEADERS_TOO_LARGE");
    });

    test("each is counted by its code and status, although there is no request", async () => {
      gateway.observations.length = 0;
      for (const rest of [`X-A: ${"a".repeat(20_000)}\r\n\r\n`, "X-A: b\r\n c: d\r\n\r\n", "\0"])
        await sendRaw(gateway.url, `${line}${rest}`);
      const metrics = await createPrometheus(metricsOf.gateway);
      const count = createObservationCounts(metrics);
      for (const observation of gateway.observations) count(observation);
      expect((await metrics.write()).match(/^tributary_gateway_rejected_total\{.*$/gm)).toEqual([
        'tributary_gateway_rejected_total{code="HEADERS_TOO_LARGE",status="431"} 1',
        'tributary_gateway_rejected_total{code="MALFORMED_REQUEST",status="400"} 2',
      ]);
    });

    test("requests before a malformed one on the same connection get their responses in order, followed by a 400", async () => {
      const request = (name: string) => {
        const body = JSON.stringify({ query: `{ ${name}: whoAmI }` });
        const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
        return `${head}\r\n\r\n${body}`;
      };
      const response = await sendRaw(gateway.url, `${["a", "b", "c"].map(request).join("")}BROKEN\r\n\r\n`);
      expect(
        [...response.matchAll(/HTTP\/1\.1 (\d+)|"data":\{"(\w)"/g)].map(([, status, name]) => status ?? name),
      ).toEqual([...["200", "a", "200", "b", "200", "c"], "400"]);
    });

    test("an unknown expectation is ignored", async () => {
      const request = "GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n";
      expect(await sendRaw(gateway.url, request)).toMatch(/^HTTP\/1\.1 200 /);
    });
  });
});

describe("numbers out of range", () => {
  let echo: RunningSubgraph;
  let gateway: RunningGateway;

  beforeAll(async () => {
    const resolve = (_: unknown, { of }: { of: unknown }) => JSON.stringify(of);
    echo = await startSubgraph({
      name: "echo",
      typeDefs: `
      directive @note(f: Float, j: JSON) on FIELD
      scalar JSON
      input Filter { f: Float fs: [Float!] j: JSON more: [Filter] }
      type Query { int(of: Int): String float(of: Float): String floats(of: [[Float]]): String id(of: ID): String json(of: JSON): String filter(of: Filter): String }
    `,
      resolvers: {
        Query: { int: resolve, float: resolve, floats: resolve, id: resolve, json: resolve, filter: resolve },
      },
    });
    gateway = await startGateway({ supergraphSdl: composeSupergraph([echo]) });
  });
  beforeEach(() => {
    echo.requests.length = 0;
    gateway.observations.length = 0;
  });
  afterAll(async () => {
    await gateway.drain();
    await echo.close();
  });

  const digits = "9".repeat(400);
  const modern = { accept: "application/graphql-response+json" };

  test.each([
    "{ float(of: 1e400) }",
    `{ float(of: ${digits}) }`,
    "{ floats(of: [[1], [1e400]]) }",
    "{ filter(of: { more: [{ fs: [1, 1e400] }] }) }",
    `{ int(of: ${digits}) }`,
    "{ id(of: 1e400) }",
    "{ json(of: 1e400) }",
    "{ json(of: { a: [0, { b: -1e400 }] }) }",
    "{ float(of: 1) @note(j: [1e400]) }",
    "query ($of: Float = 1e400) { float(of: $of) }",
    "query ($of: JSON = { a: 1e400 }) { json(of: $of) }",
    "{ ...F } fragment F on Query { float(of: 1e400) @skip(if: true) }",
    "query A { float(of: 1) } query B { float(of: 1e400) }",
  ])("%s is a validation error at the number", async (query) => {
    const body = {
      errors: [
        expect.objectContaining({
          locations: [expect.anything()],
          extensions: { code: "GRAPHQL_VALIDATION_FAILED" },
        }),
      ],
    };
    expect(await gateway.send(query)).toMatchObject({ status: 200, body });
    expect(await gateway.send(query, { headers: modern })).toMatchObject({ status: 400, body });
    expect(echo.requests).toEqual([]);
    expect(gateway.observations.map(({ kind }) => kind)).not.toContain("internal-error");
  });

  test.each([
    ["{ float(of: 1e308) }", "1e+308"],
    ["{ float(of: 1e-400) }", "0"],
    ["{ float(of: 12345678901234567890) }", "12345678901234567000"],
    [`{ id(of: ${digits}) }`, `"${digits}"`],
    ["{ json(of: [9007199254740992, -0.1, 1e21]) }", "[9007199254740992,-0.1,1e+21]"],
    ["{ json(of: { a: -1000000000000000000000 }) }", '{"a":-1e+21}'],
  ])("%s is in range", async (query, text) => {
    const { body } = await gateway.send(query);
    expect(Object.values(body.data)).toEqual([text]);
  });

  test.each([
    ["Float", "float", "1e400"],
    ["Int", "int", digits],
    ["ID", "id", digits],
    ["JSON", "json", "1e400"],
    ["JSON", "json", `{"a":[0,{"b":-${digits}}]}`],
    ["Filter", "filter", '{"more":[{"f":1e400}]}'],
  ])("a variable of type %s out of range is BAD_USER_INPUT on both paths: %s %s", async (type, field, of) => {
    const query = `query ($of: ${type}) { ${field}(of: $of) }`;
    const known = await gateway.send(query);
    expect(known.body).toEqual({ data: { [field]: null } });
    echo.requests.length = 0;
    for (const path of ["/graphql", "/graphql?full"]) {
      const response = await fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...modern },
        body: `{"query":"${query}","variables":{"of":${of}}}`,
      });
      expect(gateway.tookFastPath()).toBe(path === "/graphql");
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        errors: [
          expect.objectContaining({ locations: [{ line: 1, column: 8 }], extensions: { code: "BAD_USER_INPUT" } }),
        ],
      });
    }
    expect(echo.requests).toEqual([]);
  });
});

describe("lists in lists", () => {
  let graphs: RunningSubgraph[];
  let gateway: RunningGateway;
  const ids = Array.from({ length: 11 }, (_, i) => String(i));

  beforeAll(async () => {
    graphs = await Promise.all([startWriters(), startReaders()]);
    gateway = await startGateway({ supergraphSdl: composeSupergraph(graphs) });
  });
  beforeEach(() => {
    for (const graph of graphs) {
      graph.fault = undefined;
      graph.requests.length = 0;
    }
    gateway.observations.length = 0;
  });
  afterAll(async () => {
    await gateway.drain();
    for (const graph of graphs) await graph.close();
  });

  const tooLarge = expect.objectContaining({ extensions: { code: "RESULT_TOO_LARGE" } });
  const fans = (first: string, below: string) => `fans${first && `(first: ${first})`} { ${below} }`;
  const aliases = Array.from({ length: 150 }, (_, index) => `id${index}: id`).join(" ");
  const threeLists = (first: string) => `{ person { ${fans(first, fans(first, fans(first, "id")))} } }`;

  test.each<[string, string, object?]>([
    ["literals", threeLists("100")],
    ["variables", `query ($n: Int) ${threeLists("$n")}`, { n: 100 }],
    ["the default value of a variable", `query ($n: Int = 100) ${threeLists("$n")}`],
    ["the default value of the schema", threeLists("").replace("id", fans("", "id"))],
    [
      "fragments",
      `{ person { ...A } } fragment A on Person { ${fans("100", "...B")} } fragment B on Person { ${fans("100", fans("100", "id"))} }`,
    ],
    ["many aliases", `{ person { ${fans("100", fans("100", aliases))} } }`],
  ])("pages with too many entries by %s are rejected before a fetch", async (_, query, variables = {}) => {
    const { body } = await gateway.send(query, { variables });
    expect(body.errors).toMatchObject([{ extensions: { code: "PAGE_LIMIT_EXCEEDED", entriesMax: 20_000 } }]);
    expect(graphs.flatMap(({ requests }) => requests)).toEqual([]);
  });

  test("pages of 20 are not, also after larger ones of the same operation", async () => {
    const query = `query ($n: Int = 100) ${threeLists("$n")}`;
    await gateway.send(query);
    expect((await gateway.send(query, { variables: { n: 20 } })).body.errors).toBeUndefined();
    expect((await gateway.send(threeLists("20"))).body.errors).toBeUndefined();
  });

  /** `levels` lists of eleven, one in another. */
  function nest(levels: number, below: string): string {
    let selection = below;
    for (let level = levels; level > 0; level--)
      selection = `${level % 2 === 1 ? "books" : "readers"} { ${selection} }`;
    return `{ person { ${selection} } }`;
  }

  test.each([
    ["objects", nest(6, "s: scores")],
    ["bytes", nest(4, "text")],
    ["objects of a failed fetch", nest(5, "failing")],
  ])("too many %s of a few entities are RESULT_TOO_LARGE, and the next client is served", async (_, query) => {
    const [, readers] = graphs;
    if (query.includes("failing"))
      readers!.fault = async (response, { query: sent }, _request, resolve) =>
        sent.includes("failing") ? response.destroy() : respondJson(response, 200, JSON.stringify(await resolve()));
    const { status, body } = await gateway.send(query);
    expect(status).toBe(200);
    expect(body).toEqual({ errors: [tooLarge], data: null });
    expect(gateway.observations.map(({ kind }) => kind)).not.toContain("internal-error");
    expect((await gateway.send("{ ping }")).body).toEqual({ data: { ping: "pong" } });
  });

  test.each([
    ["objects", nest(6, "s: scores"), 1],
    ["bytes", nest(4, "text"), 2],
  ])("a mutation whose result has too many %s has the receipt of what it wrote", async (_, query, writes) => {
    let written = 0;
    graphs[0]!.fault = async (response, { query: sent }, _request, resolve) => {
      if (sent.startsWith("mutation")) written++;
      response.setHeader("write-position", "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b/7");
      respondJson(response, 200, JSON.stringify(await resolve()));
    };
    const mutation = query.replace("{ person", "mutation { touch").replace(/\}$/, "later: touch { id } }");
    const { status, headers, body } = await gateway.send(mutation);
    // Objects are counted before the later root field is sent.
    expect([status, written]).toEqual([200, writes]);
    expect(headers.get("consistency-token")).toBeTruthy();
    expect(body).toEqual({ errors: [tooLarge], data: null });
  });

  function startWriters(): Promise<RunningSubgraph> {
    const person = { id: "0", books: ids.map((isbn) => ({ isbn })), fans: [{ id: "0" }] };
    return startSubgraph({
      name: "writers",
      typeDefs: `
      type Query { person: Person ping: String }
      type Mutation { touch: Person }
      type Person @key(fields: "id") { id: ID! books: [Book] fans(first: Int = 20): [Person] text: String scores: Int }
      type Book @key(fields: "isbn", resolvable: false) { isbn: ID! }
    `,
      resolvers: {
        Query: { person: () => person, ping: () => "pong" },
        Mutation: { touch: () => person },
        Person: {
          __resolveReference: ({ id }: { id: string }) => ({ ...person, id }),
          text: () => "x".repeat(10_000),
        },
      },
    });
  }

  function startReaders(): Promise<RunningSubgraph> {
    const readers = ids.map((id) => ({ id }));
    return startSubgraph({
      name: "readers",
      typeDefs: `
      type Book @key(fields: "isbn") { isbn: ID! readers: [Person] failing: Int }
      type Person @key(fields: "id", resolvable: false) { id: ID! }
    `,
      resolvers: { Book: { __resolveReference: ({ isbn }: { isbn: string }) => ({ isbn, readers }) } },
    });
  }
});
