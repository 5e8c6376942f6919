import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildClientSchema, getIntrospectionQuery, printSchema } from "graphql";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type GatewayTestOptions, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { composeSupergraph, startSubgraph } from "./helpers/subgraphs.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  const graphiqlFolder = mkdtempSync(join(tmpdir(), "graphiql-"));
  mkdirSync(join(graphiqlFolder, "assets"));
  writeFileSync(
    join(graphiqlFolder, "index.html"),
    '<html><head><script src="./assets/index-1.js"></script></head></html>',
  );
  writeFileSync(join(graphiqlFolder, "assets/index-1.js"), "export {};");
  gateway = await start(
    {
      ISSUER_URL: "http://127.0.0.1:4020/issuer",
      REST_PROXY_URL: "http://127.0.0.1:4010",
      TRACE_URL_TEMPLATE: "http://127.0.0.1:16686/trace/{traceId}",
      INTROSPECTION_BYTES_MAX: "200000",
    },
    { graphiqlFolder },
  );
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

function start(environment: Record<string, string> = {}, more: GatewayTestOptions = {}): Promise<RunningGateway> {
  return startGateway({ supergraphSdl: library.supergraphSdl, environment, ...more });
}

describe("query plans and timings", () => {
  const query = "{ books { title stars } }";
  const withPlan = { headers: { "x-query-plan": "1" } };

  test("a request with x-query-plan gets the query plan in extensions, the first time and later", async () => {
    for (let times = 0; times < 2; times++) {
      const { body } = await gateway.send(query, withPlan);
      expect(body.data.books[0]).toEqual({ title: "Engines", stars: 1 });
      expect(JSON.stringify(body.extensions.queryPlan)).toMatch(/"books"[^]*"ratings"/);
    }
  });

  test("a request without x-query-plan gets no query plan, and by default no Server-Timing", async () => {
    const { body, headers } = await gateway.send(query);
    expect(body).not.toHaveProperty("extensions");
    expect(headers.has("server-timing")).toBe(false);
  });

  test("in production no request gets a query plan, and Server-Timing has the time of each stage if it is on", async () => {
    const production = await start({
      ...{ PROFILE: "production", TRUSTED_PROXIES: "none", SERVER_TIMING: "true" },
      CONSISTENCY_KEYS: "a key for tests only",
    });
    for (let times = 0; times < 2; times++) {
      const { body, headers } = await production.send(query, withPlan);
      expect(body).not.toHaveProperty("extensions");
      expect(headers.get("server-timing")).toMatch(
        /^parse;dur=\d+\.\d{3}, plan;dur=\d+\.\d{3}, run;dur=\d+\.\d{3}, shape;dur=\d+\.\d{3}$/,
      );
    }
    await production.drain();
  });
});

describe("GraphiQL", () => {
  const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
  const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });

  test.each(["/graphql", "/graphql?query={whoAmI}", "/graphiql", "/graphiql/"])(
    "a browser that opens %s gets the page",
    async (path) => {
      const response = await get(path, browser);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("vary")).toContain("Accept");
      expect(await response.text()).toContain('<head><base href="/graphiql/"><script src="./assets/index-1.js">');
    },
  );

  const ofOneResponse = new Set(["date", "x-request-id", "traceparent", "connection", "keep-alive"]);
  test.each(["/graphql", "/graphiql", "/graphiql/assets/index-1.js"])(
    "HEAD %s has the headers of GET",
    async (path) => {
      const send = async (method: string) => {
        const response = await fetch(gateway.url + path, { method, headers: browser });
        const headers = [...response.headers].filter(([name]) => !ofOneResponse.has(name));
        return { status: response.status, headers, text: await response.text() };
      };
      const [got, head] = [await send("GET"), await send("HEAD")];
      expect(head).toEqual({ ...got, text: "" });
      expect(got.status).toBe(200);
    },
  );

  test("caches store the page separately for each origin, like every other response", async () => {
    const response = await get("/graphql", { ...browser, origin: "http://localhost:3000" });
    expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
    expect(response.headers.get("vary")).toBe("Origin, Accept, Accept-Encoding");
  });

  test("the page may send requests only to this server, and to the local issuer in development", async () => {
    const policy = (await get("/graphql", browser)).headers.get("content-security-policy") ?? "";
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data:",
      "font-src 'self' data:",
      "worker-src 'self'",
      "connect-src 'self' http://127.0.0.1:4020",
      "base-uri 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
  });

  test("programs that open /graphql get JSON, not the page", async () => {
    for (const accept of ["*/*", "application/json", "application/graphql-response+json, text/html;q=0.5"]) {
      const response = await get("/graphql?query={whoAmI}", { accept });
      expect(await response.json()).toEqual({ data: { whoAmI: "anonymous" } });
    }
  });

  test("its files are cached forever, and missing files are 404 in JSON", async () => {
    const file = await get("/graphiql/assets/index-1.js");
    expect(file.headers.get("content-type")).toMatch(/^text\/javascript/);
    expect(file.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    for (const path of ["/graphiql/assets/none.js", "/graphiql/assets", "/graphiql/assets/", "/graphiql/none"]) {
      const missing = await get(path, browser);
      expect(missing.status).toBe(404);
      expect(await missing.json()).toMatchObject({ errors: [{ extensions: { code: "NOT_FOUND" } }] });
    }
  });

  test("its configuration has the URLs of the endpoint and the issuer, and in development what the page links to", async () => {
    expect(await (await get("/graphiql/config.json")).json()).toEqual({
      endpoint: "/graphql",
      issuer: "http://127.0.0.1:4020/issuer",
      development: {
        restProxyUrl: "http://127.0.0.1:4010",
        traceUrlTemplate: "http://127.0.0.1:16686/trace/{traceId}",
      },
    });
    const production = await start({
      ...{ PROFILE: "production", TRUSTED_PROXIES: "none", CONSISTENCY_KEYS: "a key for tests only" },
    });
    const config = await (await fetch(`${production.url}/graphiql/config.json`)).json();
    expect(config).toEqual({ endpoint: "/graphql", issuer: null });
    await production.drain();
  });

  test("without a built bundle a browser gets an error in JSON, and everything else works", async () => {
    const bare = await start();
    const page = await fetch(`${bare.url}/graphql`, { headers: browser });
    expect(page.status).toBe(404);
    expect(await page.text()).toContain("GraphiQL is not built");
    expect(await (await fetch(`${bare.url}/graphiql/config.json`)).json()).toEqual({
      endpoint: "/graphql",
      issuer: null,
      development: {},
    });
    expect((await bare.send("{ whoAmI }")).status).toBe(200);
    await bare.drain();
  });
});

describe("introspection", () => {
  test("has the description of the schema, which a subgraph can give", async () => {
    const typeDefs = `"All about people." schema { query: Query } type Query { me: Int }`;
    const people = await startSubgraph({ name: "people", typeDefs, resolvers: {} });
    const described = await startGateway({ supergraphSdl: composeSupergraph([people]) });
    const { body } = await described.send("{ __schema { description } }");
    expect(body.data).toEqual({ __schema: { description: "All about people." } });
    expect(await (await fetch(`${described.url}/schema.graphql`)).text()).toMatch(/^"""All about people\."""/);
    await described.drain();
    await people.close();
  });

  test("responds to __schema and __type, and serves the schema as SDL", async () => {
    const { body } = await gateway.send('{ __schema { queryType { name } } __type(name: "Book") { fields { name } } }');
    expect(body.data.__schema.queryType.name).toBe("Query");
    expect(body.data.__type.fields.map(({ name }: { name: string }) => name)).toContain("stars");
    const schema = await fetch(`${gateway.url}/schema.graphql`);
    expect(schema.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await schema.text()).toMatch(/^type Book \{/m);
  });

  test("can be disabled, with everything that discloses the schema", async () => {
    const closed = await start({ INTROSPECTION: "false" });
    const { status, body } = await closed.send("{ __schema { queryType { name } } }");
    expect(status).toBe(200);
    expect(body.errors[0].extensions).toEqual({ code: "INTROSPECTION_DISABLED" });
    expect((await closed.send("{ peopl { name } }")).text).not.toContain("people");
    expect((await fetch(`${closed.url}/schema.graphql`)).status).toBe(404);
    await closed.drain();
  });

  test("if it is disabled, errors of literals and variables suggest no names", async () => {
    const typeDefs = `
      enum Color { CRIMSON AZURE }
      input Filter { internalRating: Int color: Color }
      type Query { items(filter: Filter, color: Color): [String] }
    `;
    const shop = await startSubgraph({ name: "shop", typeDefs, resolvers: {} });
    onTestFinished(() => shop.close());
    for (const [INTROSPECTION, suggests] of [
      ["true", 4],
      ["false", 0],
    ] as const) {
      const supergraphSdl = composeSupergraph([shop]);
      const serving = await startGateway({ supergraphSdl, environment: { INTROSPECTION } });
      onTestFinished(() => serving.drain());
      const literal = await serving.send("{ items(filter: { internalRatin: 1 }, color: CRIMSO) }");
      const variables = { filter: { internalRatin: 1 }, color: "CRIMSO" };
      const query = "query ($filter: Filter, $color: Color) { items(filter: $filter, color: $color) }";
      const { body } = await serving.send(query, { variables });
      const messages = [...literal.body.errors, ...body.errors].map(({ message }: { message: string }) => message);
      expect(messages).toHaveLength(4);
      const suggesting = messages.filter((message) => /Did you mean|internalRating|CRIMSON/.test(message));
      expect([INTROSPECTION, suggesting.length]).toEqual([INTROSPECTION, suggests]);
    }
  });

  test("a result that would be too large is rejected, with status 400 if the media type allows it", async () => {
    const query = writeQuery(180);
    const rejected = await gateway.send(query);
    expect(rejected.status).toBe(200);
    expect(rejected.body.errors[0]).toMatchObject({
      message: expect.stringContaining("longer than 200000 bytes"),
      extensions: { code: "INTROSPECTION_TOO_LARGE" },
    });
    expect((await gateway.send(query, { headers: { accept: "application/graphql-response+json" } })).status).toBe(400);
  });

  test("a large result is written in a planner thread", async () => {
    const { body, text } = await gateway.send(writeQuery(20));
    expect(text.length).toBeGreaterThan(64_000);
    expect(body.data.__schema.a19).toEqual(body.data.__schema.a0);
    expect(body.data.__schema.a0.map(({ name }: { name: string }) => name)).toContain("Book");
  });

  test("a client can build the schema from the query that tools send", async () => {
    const { body } = await gateway.send(getIntrospectionQuery());
    expect(printSchema(buildClientSchema(body.data))).toContain("type Book {");
  });

  test("a long name in a fragment that is spread often is rejected before the fragment is expanded", async () => {
    const alias = "a".repeat(10_000);
    const types = ["queryType", "mutationType", "subscriptionType"].map((type) => `${type} { ${"...F ".repeat(40)} }`);
    const { body } = await gateway.send(`{ __schema { ${types.join(" ")} } } fragment F on __Type { ${alias}: name }`);
    expect(body.errors[0].extensions).toEqual({ code: "LENGTH_LIMIT_EXCEEDED" });
  });

  /** Every type, field and argument of the schema, once for each alias. */
  function writeQuery(aliases: number): string {
    const fields = "types { name fields { name args { name } type { name } } }";
    return `{ __schema { ${Array.from({ length: aliases }, (_, i) => `a${i}: ${fields}`).join(" ")} } }`;
  }
});
