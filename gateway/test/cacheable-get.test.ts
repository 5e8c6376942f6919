import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { type RunningSubgraph, respondJson } from "./helpers/subgraphs.ts";

// Which responses to GET requests by hash caches may store. The subgraphs say of their responses what `says` has for them.

let library: Library;
let gateway: RunningGateway;
let says: Readonly<Record<string, object | undefined>>;
let headersOf: Readonly<Record<string, Record<string, string>>>;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { CDN_TAG_HEADER: "Surrogate-Key", SERVER_TIMING: "true" },
  });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
beforeEach(() => {
  says = { people: { seconds: 10, groups: ["people:1"] }, books: { seconds: 5, groups: ["books", "people:1"] } };
  headersOf = {};
  for (const subgraph of library.all) {
    subgraph.requests.length = 0;
    subgraph.fault = async (response, _body, _request, resolve) => {
      for (const [name, value] of Object.entries(headersOf[subgraph.name] ?? {})) response.setHeader(name, value);
      const cache = says[subgraph.name];
      const extensions = cache && wantsMetadata(subgraph) ? { extensions: { cache } } : {};
      respondJson(response, 200, JSON.stringify({ ...(await resolve()), ...extensions }));
    };
  }
});

const query = `{ person(id: "1") { name books { title } } }`;

test("a query by the hash of a known document is cacheable, without the CSRF header", async () => {
  const { status, headers, body } = await get(query);
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({ data: { person: { name: "Ada", books: expect.any(Array) as unknown } } });
  expect(headers).toMatchObject({
    "cache-control": "public, max-age=0, s-maxage=5",
    "cdn-cache-control": "public, max-age=5",
    "cache-groups": '"people:1", "books"',
    "surrogate-key": "people:1 books service:people service:books",
    vary: "Origin, Accept, Accept-Encoding",
  });
  expect(headers.etag).toMatch(/^"[\w-]{22}"$/);
  // A CDN would send them to other clients.
  for (const name of ["server-timing", "x-request-id", "traceparent"]) expect(headers).not.toHaveProperty(name);
});

test.each([
  ["a cookie, which the gateway ignores,", {}, { cookie: "__cf_bm=1; _ga=2" }],
  ["the name of Apollo's client library", { clientLibrary: { name: "apollo-ios", version: "2.0.0" } }, {}],
])("with %s the response is the same", async (_, extensions, headers) => {
  const plain = await get(query);
  const parameters = { extensions: JSON.stringify({ ...extensions, ...extensionsOf(query) }) };
  const same = await send({ extensions: {}, headers, parameters });
  const { date: _date, "x-request-id": _id, traceparent: _trace, ...stored } = same.headers;
  expect(plain.headers).toMatchObject(stored);
  expect([same.status, same.body]).toEqual([200, plain.body]);
});

test("the ETag leads to a 304 with the same headers, and differs by content coding and by body", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `${"n".repeat(40)}${i}: name`);
  const long = `{ person(id: "1") { ${names.join(" ")} } }`;
  const plain = await get(long);
  const zipped = await get(long, { "accept-encoding": "gzip" });
  expect(gunzipSync(zipped.bytes).toString()).toBe(plain.body);
  expect(zipped.headers.etag).toBe(String(plain.headers.etag).replace(/"$/, '-gzip"'));
  for (const [accept, etag] of [
    ["identity", plain.headers.etag],
    ["gzip", zipped.headers.etag],
    ["zstd, gzip", String(plain.headers.etag).replace(/"$/, '-zstd"')],
  ]) {
    const again = await get(long, { "accept-encoding": String(accept), "if-none-match": String(etag) });
    expect([again.status, again.body, again.headers.etag]).toEqual([304, "", etag]);
    for (const name of ["vary", "cache-control", "cdn-cache-control", "cache-groups"])
      expect(again.headers[name]).toBe(plain.headers[name]);
    for (const name of ["x-request-id", "traceparent"]) expect(again.headers).not.toHaveProperty(name);
  }
  expect((await get(long, { "if-none-match": String(zipped.headers.etag) })).status).toBe(200);
  expect((await get(query)).headers.etag).not.toBe(plain.headers.etag);
});

test.each([
  ["a subgraph that says nothing", { people: { seconds: 10, groups: [] } }],
  ["a freshness of 0", { people: { seconds: 10, groups: [] }, books: { seconds: 0, groups: [] } }],
  [
    "a group name that no header can hold",
    { people: { seconds: 10, groups: ["ä"] }, books: { seconds: 1, groups: [] } },
  ],
  [
    "more than 32 groups",
    {
      people: { seconds: 10, groups: Array.from({ length: 20 }, (_, i) => `people:${i}`) },
      books: { seconds: 10, groups: Array.from({ length: 13 }, (_, i) => `books:${i}`) },
    },
  ],
])("with %s the response is not stored", async (_, said) => {
  says = said;
  expectUnstored(await get(query));
});

test("a response with an error is not stored, whatever the subgraph says", async () => {
  library.people.fault = (response) => {
    const extensions = { cache: { seconds: 10, groups: [] } };
    respondJson(response, 200, JSON.stringify({ data: { whoAmI: null }, errors: [{ message: "x" }], extensions }));
  };
  expectUnstored(await get("{ whoAmI }"));
});

test.each([
  ["a token", query, { authorization: "Bearer x" }],
  ["introspection", `{ person(id: "1") { name } __schema { queryType { name } } }`, {}],
  ["nothing fetched", `{ __typename }`, {}],
])("a response with %s is not stored", async (_, document, headers) => {
  expectUnstored(await get(document, headers));
});

test.each([
  ["an unknown extension", { extensions: JSON.stringify({ ...extensionsOf(query), utm: "1" }) }, {}],
  ["extensions without a hash", { extensions: `{"clientLibrary":{}}`, query }, {}],
  ["an unknown parameter", { utm: "1" }, {}],
  ["the document itself", { query }, {}],
])("with %s the CSRF header is required, and the response is not stored", async (_, parameters, headers) => {
  expect((await get(query, headers, parameters)).status).toBe(400);
  const permitted = await get(query, { ...headers, "apollo-require-preflight": "1" }, parameters);
  expect(permitted.status).toBe(200);
  expectUnstored(permitted);
});

test("a question mark in the query of the URL separates nothing", async () => {
  await get(query);
  const extensions = encodeURIComponent(JSON.stringify(extensionsOf(query)));
  const cacheable = await fetch(`${gateway.url}/graphql?variables={"unused":"why?"}&extensions=${extensions}`);
  expect(cacheable.headers.get("cdn-cache-control")).toBe("public, max-age=5");
  const withDocument = await request(
    new URL(`${gateway.url}/graphql?extensions=${extensions}&operationName=A?&query=${query}`),
  );
  expect(await withDocument.body.json()).toMatchObject({ errors: [{ extensions: { code: "CSRF_PREVENTED" } }] });
});

test("an unknown hash and a mutation are not stored, and a mutation is not executed", async () => {
  const unknown = await send({ extensions: extensionsOf("{ unknown: __typename }") });
  expect(JSON.parse(unknown.body)).toMatchObject({ errors: [{ extensions: { code: "PERSISTED_QUERY_NOT_FOUND" } }] });
  expectUnstored(unknown);
  const rename = await get(`mutation { rename(id: "1", name: "A") { name } }`);
  expect(rename.status).toBe(405);
  expectUnstored(rename);
});

test("of a foreign subgraph Cache-Control counts for the whole response, with Apollo's cache tags", async () => {
  says = { people: { seconds: 10, groups: [] } };
  headersOf = { books: { "cache-control": "public, max-age=60, s-maxage=3" } };
  expect((await get(query)).headers["cdn-cache-control"]).toBe("public, max-age=3");
  const unstored = [
    "private, max-age=60",
    "max-age=60",
    "public, no-store, max-age=60",
    'public, no-cache="set-cookie", max-age=60',
  ];
  for (const cacheControl of unstored) {
    headersOf = { books: { "cache-control": cacheControl } };
    expectUnstored(await get(query));
  }
});

test("a POST wants no metadata of the subgraphs", async () => {
  await get(query);
  library.people.requests.length = 0;
  await gateway.send(query);
  expect(library.people.requests).toHaveLength(1);
  expect(wantsMetadata(library.people)).toBe(false);
});

function expectUnstored({ headers }: Awaited<ReturnType<typeof send>>): void {
  expect(headers["cache-control"]).toBe("no-store");
  for (const name of ["cdn-cache-control", "cache-groups", "surrogate-key", "etag"])
    expect(headers).not.toHaveProperty(name);
}

function wantsMetadata({ requests }: RunningSubgraph): boolean {
  const body = requests.at(-1)?.body as { readonly extensions?: { readonly cacheMetadata?: boolean } } | undefined;
  return body?.extensions?.cacheMetadata === true;
}

/** Registers the document, then requests it by its hash. */
async function get(document: string, headers: Record<string, string> = {}, parameters: Record<string, string> = {}) {
  const extensions = extensionsOf(document);
  await fetch(`${gateway.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: document, extensions }),
  });
  return send({ extensions, headers, parameters });
}

function extensionsOf(document: string) {
  return { persistedQuery: { version: 1, sha256Hash: createHash("sha256").update(document).digest("hex") } };
}

interface GetOptions {
  readonly extensions: object;
  readonly headers?: Record<string, string>;
  readonly parameters?: Record<string, string>;
}

async function send({ extensions, headers = {}, parameters = {} }: GetOptions) {
  const search = new URLSearchParams({ extensions: JSON.stringify(extensions), ...parameters });
  const response = await request(`${gateway.url}/graphql?${search.toString()}`, { headers });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, bytes, body: bytes.toString() };
}
