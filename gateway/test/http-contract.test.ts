import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  zstdDecompressSync,
} from "node:zlib";
import { type AuditFail, type AuditResult, serverAudits } from "graphql-http";
import { request as undiciRequest } from "undici";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningGateway, readGraphqlResponse, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { sendRaw } from "./helpers/raw-http.ts";

const tight = { ALIASES_MAX: "20", DIRECTIVES_MAX: "20", LIST_ENTRIES_MAX: "20" };

let library: Library;
let gateway: RunningGateway;
let url: string;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { GRAPHQL_BODY_BYTES_MAX: "2000", SELECTIONS_MAX: "200", DOCUMENT_TOKENS_MAX: "300", ...tight },
  });
  url = `${gateway.url}/graphql`;
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
beforeEach(() => {
  for (const { requests } of library.all) requests.length = 0;
});

const json = { "content-type": "application/json" };
const modern = { accept: "application/graphql-response+json" };
const sent = () => library.all.flatMap(({ requests }) => requests).length;
const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = json) =>
  readGraphqlResponse(await fetch(url, { method: "POST", headers, body }));
const get = async (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  readGraphqlResponse(
    await fetch(`${url}?${new URLSearchParams(parameters).toString()}`, {
      headers: { "apollo-require-preflight": "1", ...headers },
    }),
  );

describe("a well-formed request that is rejected before it runs", () => {
  const cases = [
    ["a syntax error", { query: "{ people {" }, "GRAPHQL_PARSE_FAILED"],
    ["a field that is not there", { query: "{ peple { name } }" }, "GRAPHQL_VALIDATION_FAILED"],
    [
      "an unknown operation name",
      { query: "query A { whoAmI } query B { whoAmI }", operationName: "C" },
      "OPERATION_RESOLUTION_FAILURE",
    ],
    [
      "several operations and no name",
      { query: "query A { whoAmI } query B { whoAmI }" },
      "OPERATION_RESOLUTION_FAILURE",
    ],
    [
      "several operations and an empty name",
      { query: "query A { whoAmI } query B { whoAmI }", operationName: "" },
      "OPERATION_RESOLUTION_FAILURE",
    ],
    ["a document of fragments only", { query: "fragment F on Query { whoAmI }" }, "GRAPHQL_VALIDATION_FAILED"],
    [
      "a wrong variable",
      { query: "query ($id: ID!) { person(id: $id) { name } }", variables: { id: {} } },
      "BAD_USER_INPUT",
    ],
    ["a missing variable", { query: "query ($id: ID!) { person(id: $id) { name } }" }, "BAD_USER_INPUT"],
    ["too many tokens", { query: `{ ${"...F ".repeat(200)} }` }, "TOKEN_LIMIT_EXCEEDED"],
    ["too many selections behind fragments", { query: explosion(9) }, "SELECTION_LIMIT_EXCEEDED"],
    ["too many levels", { query: `${"{ a ".repeat(51)}${"}".repeat(51)}` }, "DEPTH_LIMIT_EXCEEDED"],
    ["too many aliases", { query: `{ person(id: 1) { ${many(21, (i) => `a${i}: name`)} } }` }, "ALIAS_LIMIT_EXCEEDED"],
    ["too many root fields", { query: `{ ${"whoAmI ".repeat(51)} }` }, "ROOT_FIELD_LIMIT_EXCEEDED"],
    ["too many directives", { query: `{ whoAmI ${"@skip(if: false) ".repeat(21)} }` }, "DIRECTIVE_LIMIT_EXCEEDED"],
    ["too long a list", { query: `{ whoAmI(in: [${"1 ".repeat(21)}]) }` }, "LIST_LIMIT_EXCEEDED"],
    ["a subscription", { query: "subscription { whoAmI }" }, "GRAPHQL_VALIDATION_FAILED"],
    [
      "a fragment cycle",
      { query: "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }" },
      "GRAPHQL_VALIDATION_FAILED",
    ],
  ] as const;

  test.each(cases)(
    "%s: 200 for application/json, 400 for application/graphql-response+json, and nothing ran",
    async (_, body, code) => {
      const plain = await post(JSON.stringify(body));
      expect(plain.status).toBe(200);
      expect(plain.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(plain.body.data).toBeUndefined();
      expect(plain.body.errors[0].extensions).toEqual({ code });

      const own = await post(JSON.stringify(body), { ...json, ...modern });
      expect(own.status).toBe(400);
      expect(own.headers.get("content-type")).toBe("application/graphql-response+json; charset=utf-8");
      expect(own.body).toEqual(plain.body);
      expect(sent()).toBe(0);
    },
  );
});

describe("a body that is not a GraphQL request", () => {
  const cases: readonly (readonly [string, string | Uint8Array<ArrayBuffer>])[] = [
    ["broken JSON", '{"query":'],
    ["nothing", ""],
    ["null", "null"],
    ["a number", "1"],
    ["a text", '"{ whoAmI }"'],
    ["a batch", '[{"query":"{ whoAmI }"}]'],
    ["no query", "{}"],
    ["a null query", '{"query":null}'],
    ["an empty query", '{"query":""}'],
    ["a query that is a number", '{"query":1}'],
    ["variables that are a text", '{"query":"{ whoAmI }","variables":"{}"}'],
    ["variables that are a list", '{"query":"{ whoAmI }","variables":[]}'],
    ["an operation name that is a list", '{"query":"{ whoAmI }","operationName":[]}'],
    ["extensions that are a number", '{"query":"{ whoAmI }","extensions":0}'],
    ["a query that is inherited only", '{"__proto__":{"query":"{ whoAmI }"}}'],
    ["bytes that are not UTF-8", Buffer.from('{"query":"{ whoAmI }","x":"\xff"}', "latin1")],
    ["a byte order mark", '\ufeff{"query":"{ whoAmI }"}'],
    ["a key twice", '{"query":"{ nothing }","query":"{ whoAmI }"}'],
    ["a key twice in its variables", '{"query":"{ whoAmI }","variables":{"a":[{"b":1,"\\u0062":1}]}}'],
    ["a key twice in a member that is not read", '{"query":"{ whoAmI }","x":{"__proto__":1,"__proto__":1}}'],
  ];

  test.each(cases)("%s: 400 with JSON for every client", async (_, body) => {
    for (const headers of [json, { ...json, ...modern }]) {
      const response = await post(body, headers);
      expect(response.status).toBe(400);
      expect(response.headers.get("content-type")).toMatch(/^application\/(graphql-response\+)?json/);
      expect(response.body.errors[0].extensions.code).toBe("MALFORMED_REQUEST");
    }
    expect(sent()).toBe(0);
  });

  test("the response to a repeated key names the problem", async () => {
    const { body } = await post('{"query":"{ whoAmI }","query":"{ whoAmI }"}');
    expect(body.errors[0].message).toBe("The body has a key twice in one object.");
    const search = { query: "{ whoAmI }", variables: '{"a":1,"a":1}' };
    expect((await get(search)).body.errors[0].message).toBe("`variables` has a key twice in one object.");
  });
});

describe("the media type of a body", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/graphql",
    "application/json; charset=utf-16",
    "application/json; charset=latin1",
    "application/json; charset=utf-8; charset=utf-16",
    "application/json; charset=utf-8; charset=utf-8",
    "application/json; charset =utf-16",
    "application/json; charset=",
    "text/html",
  ])("%s is 415", async (type) => {
    const response = await post('{"query":"{ whoAmI }"}', { "content-type": type });
    expect(response.status).toBe(415);
    expect(response.body.errors[0].extensions.code).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON;charset=UTF-8",
    'application/json; charset="utf-8"',
  ])("%s is read", async (type) => {
    expect((await post('{"query":"{ whoAmI }"}', { "content-type": type })).status).toBe(200);
  });

  test("a request that accepts no JSON is 406, and nothing ran", async () => {
    const response = await post('{"query":"mutation { addBook(title: 1) { isbn } }"}', {
      ...json,
      accept: "text/html",
    });
    expect(response.status).toBe(406);
    expect(response.body.errors[0].extensions.code).toBe("NOT_ACCEPTABLE");
    expect(sent()).toBe(0);
  });
});

describe("a body that is too large", () => {
  const large = JSON.stringify({ query: "{ whoAmI }", variables: { x: "x".repeat(5_000) } });

  test("is 413 by its Content-Length", async () => {
    const response = await post(large);
    expect(response.status).toBe(413);
    expect(response.body.errors[0].extensions.code).toBe("PAYLOAD_TOO_LARGE");
  });

  test("is 413 with chunked encoding", async () => {
    const { statusCode, body } = await undiciRequest(url, {
      method: "POST",
      headers: json,
      body: Readable.from(pieces(large)),
    });
    expect(statusCode).toBe(413);
    expect(await body.json()).toMatchObject({ errors: [{ extensions: { code: "PAYLOAD_TOO_LARGE" } }] });
  });

  test("is 413 when it is too large decompressed", async () => {
    const bomb = gzipSync(JSON.stringify({ query: "{ whoAmI }", variables: { x: "x".repeat(5_000_000) } }));
    expect((await post(new Uint8Array(bomb), { ...json, "content-encoding": "gzip" })).status).toBe(413);
  });

  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("one compressed with %s within the limit is read", async (encoding, compress) => {
    const compressed = new Uint8Array(compress('{"query":"{ whoAmI }"}'));
    expect((await post(compressed, { ...json, "content-encoding": encoding })).body.data).toEqual({
      whoAmI: "anonymous",
    });
  });

  test("an incomplete compressed body is 400, an unknown Content-Encoding 415", async () => {
    const half = new Uint8Array(gzipSync('{"query":"{ whoAmI }"}').subarray(0, 15));
    expect((await post(half, { ...json, "content-encoding": "gzip" })).status).toBe(400);
    expect((await post("{}", { ...json, "content-encoding": "compress" })).status).toBe(415);
  });
});

describe("GET", () => {
  test("responds to a query with a CSRF header", async () => {
    for (const header of ["apollo-require-preflight", "x-apollo-operation-name"]) {
      const response = await fetch(`${url}?query=${encodeURIComponent("{ whoAmI }")}`, { headers: { [header]: "x" } });
      expect(await response.json()).toEqual({ data: { whoAmI: "anonymous" } });
    }
  });

  test("reads variables and operationName from the query string", async () => {
    const query = "query A { whoAmI } query B($id: ID!) { person(id: $id) { name } }";
    const response = await get({ query, operationName: "B", variables: '{"id":"2"}', extensions: "{}" });
    expect(response.body).toEqual({ data: { person: { name: "Grace" } } });
  });

  test.each([
    [],
    ["Sec-Fetch-Mode: no-cors", "Sec-Fetch-Site: cross-site"],
    ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Site: same-origin"],
    ["Sec-Fetch-Mode: cors", "Origin: https://evil.example"],
    ["Sec-Fetch-Mode: cors", "Origin: null"],
    ["Origin: http://localhost.evil.example"],
  ])("that a page of another origin can make a browser send is rejected: %j", async (...lines) => {
    expect(await sendGet(lines)).toMatch(/^HTTP\/1\.1 400 .*"code":"CSRF_PREVENTED"/s);
    expect(sent()).toBe(0);
  });

  test.each([["Sec-Fetch-Mode: cors"], ["Origin: http://localhost:5173"]])(
    "by `fetch` of a page whose origin is allowed needs no CSRF header: %s",
    async (line) => {
      expect(await sendGet([line])).toMatch(/^HTTP\/1\.1 200 .*"whoAmI":"anonymous"/s);
    },
  );

  function sendGet(lines: readonly string[]): Promise<string> {
    const head = ["GET /graphql?query={whoAmI} HTTP/1.1", "Host: x", "Connection: close", ...lines];
    return sendRaw(url, `${head.join("\r\n")}\r\n\r\n`);
  }

  test.each([
    "Content-Type: message/external-body",
    "Content-Type: x",
    "Content-Type:",
    "Content-Type: application/graphql",
    "Content-Type: TEXT/PLAIN",
    "Content-Type: application/json, text/plain",
    "Content-Type: application/json\r\nContent-Type: text/plain",
    "Content-Type: text/plain\r\nApollo-Require-Preflight: 1",
  ])("with a content type other than JSON is 415, also by hash: %j", async (lines) => {
    const hash = "0".repeat(64);
    const extensions = encodeURIComponent(`{"persistedQuery":{"version":1,"sha256Hash":"${hash}"}}`);
    for (const search of ["query={whoAmI}", `extensions=${extensions}`]) {
      const response = await sendRaw(
        url,
        `GET /graphql?${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n\r\n`,
      );
      expect(response).toMatch(/^HTTP\/1\.1 415 .*"code":"UNSUPPORTED_MEDIA_TYPE"/s);
    }
    expect(sent()).toBe(0);
  });

  test.each(["application/json", "Application/JSON; charset=utf-8"])(
    "with the content type %s needs no CSRF header",
    async (type) => {
      const response = await fetch(`${url}?query={whoAmI}`, { headers: { "content-type": type } });
      expect(await response.json()).toEqual({ data: { whoAmI: "anonymous" } });
    },
  );

  test.each([
    ["plain", { query: 'mutation { addBook(title: "x") { isbn } }' }],
    ["with an empty operation name", { query: 'mutation { addBook(title: "x") { isbn } }', operationName: "" }],
    ["beside a query", { query: 'query Q { whoAmI } mutation M { addBook(title: "x") { isbn } }', operationName: "M" }],
  ])("never runs a mutation: %s", async (_, parameters) => {
    for (const headers of [{}, modern]) {
      const response = await get(parameters, headers);
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
      expect(response.body.errors[0].extensions.code).toBe("METHOD_NOT_ALLOWED");
    }
    expect(sent()).toBe(0);
  });

  test("never runs a mutation by an empty or missing operationName", async () => {
    const response = await get({ query: 'mutation M { addBook(title: "x") { isbn } }', operationName: "N" });
    expect(response.body.errors[0].extensions.code).toBe("OPERATION_RESOLUTION_FAILURE");
    expect(sent()).toBe(0);
  });

  test.each([{ variables: "{" }, { variables: "[]" }, { extensions: "1" }, { query: "" }])(
    "with broken parameters is 400: %j",
    async (broken) => {
      const response = await get({ query: "{ whoAmI }", ...broken });
      expect(response.status).toBe(400);
      expect(response.body.errors[0].extensions.code).toBe("MALFORMED_REQUEST");
    },
  );

  test("with a parameter twice is 400", async () => {
    const response = await fetch(`${url}?query={whoAmI}&query={whoAmI}`, {
      headers: { "apollo-require-preflight": "1" },
    });
    expect(response.status).toBe(400);
  });
});

test.each([
  ["a query", "query={whoAmI}", "Apollo-Require-Preflight: 1", 200],
  ["a long query", "query={list(first:500)}", "Apollo-Require-Preflight: 1\r\nAccept-Encoding: gzip", 200],
  ["no CSRF header", "query={whoAmI}", "X: 1", 400],
  ["a mutation", "query=mutation{addBook(title:%22x%22){isbn}}", "Apollo-Require-Preflight: 1", 405],
  ["no type that it accepts", "query={whoAmI}", "Accept: image/png", 406],
])("HEAD has the status and headers of GET, and no body: %s", async (_, search, lines, status) => {
  const send = async (method: string) => {
    const head = `${method} /graphql?${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Request-Id: h-1`;
    const [headers = "", body] = (await sendRaw(url, `${head}\r\n${lines}\r\n\r\n`)).split("\r\n\r\n");
    return { headers: headers.replaceAll(/^(?:date|traceparent): .*$/gim, ""), body };
  };
  const [got, head] = [await send("GET"), await send("HEAD")];
  expect(got.headers).toContain(`HTTP/1.1 ${status} `);
  expect(got.body).not.toBe("");
  expect(head).toEqual({ headers: got.headers, body: "" });
});

describe("the method QUERY (RFC 10008)", () => {
  const query = async (body: string, headers: Record<string, string> = json) =>
    readGraphqlResponse(await fetch(url, { method: "QUERY", headers, body }));

  test("runs a query as a POST does, without a CSRF header; no cache stores the response", async () => {
    const body = JSON.stringify({ query: `query ($id: ID!) { person(id: $id) { name } }`, variables: { id: "1" } });
    const response = await query(body);
    expect([response.status, response.body]).toEqual([200, { data: { person: { name: "Ada" } } }]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect((await query("{")).status).toBe(400);
    expect((await query(JSON.stringify({ query: `{ ${"x".repeat(3_000)} }` }))).status).toBe(413);
    for (const type of ["text/plain", "application/graphql"])
      expect((await query(body, { "content-type": type })).status).toBe(415);
  });

  test("never runs a mutation, also one that is in the operation store", async () => {
    const body = JSON.stringify({ query: `mutation Safe { addBook(title: "x") { isbn } }` });
    const send = async () => {
      const { status, headers } = await query(body);
      return [status, headers.get("allow"), sent()];
    };
    expect(await send()).toEqual([405, "POST", 0]);
    await post(body);
    expect(await send()).toEqual([405, "POST", sent()]);
  });

  test("is permitted to pages of allowed origins, by a preflight", async () => {
    const preflight = { origin: "http://localhost:5173", "access-control-request-method": "QUERY" };
    const { headers } = await fetch(url, { method: "OPTIONS", headers: preflight });
    expect(headers.get("access-control-allow-methods")).toContain("QUERY");
  });
});

describe("automatic persisted queries", () => {
  const query = "{ whoAmI  persisted: __typename }";
  const sha256Hash = createHash("sha256").update(query).digest("hex");
  const persistedQuery = { version: 1, sha256Hash };

  test("are requested once and then registered", async () => {
    const unknown = await post(JSON.stringify({ extensions: { persistedQuery } }));
    expect(unknown.status).toBe(200);
    expect(unknown.body.errors[0]).toMatchObject({
      message: "PersistedQueryNotFound",
      extensions: { code: "PERSISTED_QUERY_NOT_FOUND" },
    });
    expect((await post(JSON.stringify({ query, extensions: { persistedQuery } }))).body.data.whoAmI).toBe("anonymous");
    expect((await post(JSON.stringify({ extensions: { persistedQuery } }))).body.data.whoAmI).toBe("anonymous");
    expect((await get({ extensions: JSON.stringify({ persistedQuery }) })).body.data.whoAmI).toBe("anonymous");
  });

  test.each([
    ["another document's hash", { query: "{ whoAmI }", extensions: { persistedQuery } }],
    ["another version", { query, extensions: { persistedQuery: { version: 2, sha256Hash } } }],
    ["a hash that is an object", { extensions: { persistedQuery: { version: 1, sha256Hash: {} } } }],
    ["no object", { extensions: { persistedQuery: "x" } }],
  ])("with %s are 400", async (_, body) => {
    const response = await post(JSON.stringify(body));
    expect(response.status).toBe(400);
    expect(response.body.errors[0].extensions.code).toBe("MALFORMED_REQUEST");
  });
});

describe("an unknown URL or method", () => {
  test.each([
    "//",
    "/nothing",
    "/graphql/more",
    "/%E0%A4%A",
    "/graphiql/assets/..%2f..%2fpackage.json",
    "/GRAPHQL",
    "//graphql//x",
  ])("%s is 404 or 400 in JSON", async (path) => {
    const { statusCode, headers, body } = await undiciRequest(gateway.url + path, { headers: { accept: "text/html" } });
    expect([400, 404]).toContain(statusCode);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(await body.json()).toMatchObject({ errors: [{ message: expect.any(String) }] });
  });

  test.each(["PUT", "DELETE", "PATCH", "OPTIONS"])("%s /graphql is 405 with Allow", async (method) => {
    const response = await fetch(url, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST, QUERY, OPTIONS");
    expect(response.headers.get("accept-query")).toBe("application/json");
    expect(response.headers.get("content-type")).toContain("application/json");
  });

  test("POST /schema.graphql is 405", async () => {
    expect((await fetch(`${gateway.url}/schema.graphql`, { method: "POST" })).status).toBe(405);
  });
});

describe("a response", () => {
  test("is compressed if the client accepts it and the body is large enough", async () => {
    const query = "{ list(first: 500) }";
    for (const [encoding, unpack] of [
      ["gzip", gunzipSync],
      ["br", brotliDecompressSync],
      ["zstd", zstdDecompressSync],
    ] as const) {
      const { headers, body } = await undiciRequest(url, {
        method: "POST",
        headers: { ...json, "accept-encoding": encoding },
        body: JSON.stringify({ query }),
      });
      expect(headers["content-encoding"]).toBe(encoding);
      expect(headers.vary).toBe("Origin, Accept, Accept-Encoding");
      expect(JSON.parse(unpack(Buffer.from(await body.arrayBuffer())).toString()).data.list).toHaveLength(500);
    }
    const small = await undiciRequest(url, {
      method: "POST",
      headers: { ...json, "accept-encoding": "br" },
      body: '{"query":"{ whoAmI }"}',
    });
    expect(small.headers["content-encoding"]).toBeUndefined();
    await small.body.dump();
  });

  test("has a request id and a trace, those of the client if they are valid; whether the trace is recorded, the gateway decides", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const given = await gateway.send("{ whoAmI }", { headers: { "x-request-id": "abc-1", traceparent } });
    expect(given.headers.get("x-request-id")).toBe("abc-1");
    expect(given.headers.get("traceparent")).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
    const odd = await gateway.send("{ whoAmI }", {
      headers: { "x-request-id": "a b<script>", traceparent: "00-0-0-01" },
    });
    expect(odd.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(odd.headers.get("traceparent")).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  });

  test("has no headers of the software, and no-store", async () => {
    const { headers } = await gateway.send("{ whoAmI }");
    expect(headers.get("x-powered-by")).toBeNull();
    expect(headers.get("etag")).toBeNull();
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});

describe("pages of other origins", () => {
  const preflight = (origin: string) =>
    fetch(url, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "content-type" },
    });

  test.each(["http://localhost:5173", "http://127.0.0.1:80999".replace("80999", "8099")])(
    "%s may read in development",
    async (origin) => {
      const allowed = await preflight(origin);
      expect(allowed.status).toBe(204);
      expect(allowed.headers.get("access-control-allow-origin")).toBe(origin);
      expect(allowed.headers.get("access-control-allow-headers")).toMatch(/\bauthorization\b.*\bpriority\b/);
      const response = await gateway.send("{ whoAmI }", { headers: { origin } });
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(response.headers.get("access-control-expose-headers")).toContain("x-request-id");
      expect(response.headers.get("vary")).toContain("Origin");
    },
  );

  test.each([
    "https://evil.example",
    "http://localhost.evil.example",
    "null",
    "http://localhost:80@evil.example",
    "http://localhost:5173/path",
  ])("%s may not", async (origin) => {
    const rejected = await preflight(origin);
    expect(rejected.status).toBe(204);
    expect(rejected.headers.get("access-control-allow-origin")).toBeNull();
    expect(rejected.headers.get("access-control-allow-methods")).toBeNull();
  });
});

test("names of the object prototype are valid aliases, variables and operation names", async () => {
  const query =
    "query constructor($__proto__: ID!, $toString: ID = 2) { constructor: person(id: $__proto__) { then: name } __proto__: person(id: $toString) { valueOf: name } }";
  const { text } = await post(
    `{"query":${JSON.stringify(query)},"operationName":"constructor","variables":{"__proto__":"1"}}`,
  );
  expect(text).toBe('{"data":{"constructor":{"then":"Ada"},"__proto__":{"valueOf":"Grace"}}}');
});

function explosion(levels: number): string {
  const fragments = Array.from(
    { length: levels },
    (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`,
  ).join(" ");
  return `{ ...F0 } ${fragments} fragment F${levels} on Query { whoAmI }`;
}

async function* pieces(text: string): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += 500) yield text.slice(i, i + 500);
}

function many(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(" ");
}

describe("the audits of GraphQL over HTTP", () => {
  let results: readonly AuditResult[];
  beforeAll(async () => void (results = await Promise.all(serverAudits({ url }).map((audit) => audit.fn()))));

  test("every MUST, every SHOULD and every MAY of GraphQL over HTTP is met", () => {
    expect(failed()).toEqual([]);
    expect(["MUST", "SHOULD", "MAY"].map(count)).toEqual([13, 23, 25]);
  });

  function count(level: string): number {
    return results.filter(({ name }) => name.split(" ")[0] === level).length;
  }

  function failed(): readonly AuditFail[] {
    return results.filter((result) => result.status !== "ok");
  }
});

test("a WebSocket upgrade is rejected with its cause", async () => {
  const head = [
    "GET /graphql HTTP/1.1",
    `Host: ${new URL(url).host}`,
    "Connection: Upgrade, close",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
    "Sec-WebSocket-Protocol: graphql-transport-ws",
  ];
  const response = await sendRaw(url, `${head.join("\r\n")}\r\n\r\n`);
  expect(response).toMatch(/^HTTP\/1\.1 400 .*WebSocket/s);
});
