import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";
import { respondJson } from "./helpers/subgraphs.ts";

// `@defer` and `@stream` are valid, and all data is in one response.

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  for (const subgraph of library.all) {
    subgraph.fault = async (response, _body, _request, resolve) => {
      response.setHeader("cache-control", "public, max-age=5");
      respondJson(response, 200, JSON.stringify(await resolve()));
    };
  }
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
beforeEach(() => library.all.forEach(({ requests }) => (requests.length = 0)));

const marked = { is_final: true };
const mixed = "multipart/mixed;deferSpec=20220824,application/json";

test("on both paths, the data and the plan are those of the document without the directives", async () => {
  const plain = `{ person(id: "1") { name ...F books { title isbn } } } fragment F on Person { email }`;
  const query = `{ person(id: "1") { name ...F @defer(label: "f") books @stream(initialCount: 1) { title ... @defer { isbn } } } }
    fragment F on Person { email }`;
  const expected = (await gateway.send(plain)).body;
  const plainRequests = takeRequests();
  const planCount = countPlans();
  for (const isFast of [false, true]) {
    const { body, headers } = await gateway.send(query, { headers: { accept: mixed } });
    expect(body).toEqual({ ...expected, extensions: marked });
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(gateway.tookFastPath()).toBe(isFast);
    expect(takeRequests()).toEqual(plainRequests);
  }
  expect(expected).not.toHaveProperty("extensions");
  expect(countPlans()).toBe(planCount);
});

test("a variable in `if` is used; its value has no effect", async () => {
  const query = `query ($late: Boolean, $first: Int) { whoAmI ... @defer(if: $late) { list(first: 1) @stream(initialCount: $first) } }`;
  for (const variables of [{}, { late: true }, { late: false }, { late: null, first: null }]) {
    const { body } = await gateway.send(query, { variables });
    expect(body).toEqual({ data: { whoAmI: "anonymous", list: [0] }, extensions: marked });
  }
  expect(new Set(takeRequests()[0])).toEqual(new Set(["{whoAmI list(first:1)}"]));
  const { body } = await gateway.send(query, { variables: { late: "yes" } });
  expect(body.errors[0]).toMatchObject({ extensions: { code: "BAD_USER_INPUT" }, locations: [{ line: 1, column: 8 }] });
});

test("each operation of a document runs inline", async () => {
  const query = `query A { ...F @defer } mutation B { ... @defer { rename(id: "1", name: "Countess") { name } } } fragment F on Query { whoAmI }`;
  const sent = { headers: { accept: mixed } };
  expect((await gateway.send(query, { ...sent, operationName: "A" })).body.data).toEqual({ whoAmI: "anonymous" });
  const { body } = await gateway.send(query, { ...sent, operationName: "B" });
  expect(body).toMatchObject({ data: { rename: { name: "Countess" } }, extensions: marked });
});

test("a deferred field that fails is an error at its path, beside the other data", async () => {
  const query = `{ whoAmI ... @defer { bestBook { isbn stars } } }`;
  const { ratings } = library;
  const { fault } = ratings;
  ratings.fault = (response) => respondJson(response, 500, "{}");
  const { body, status } = await gateway.send(query, { headers: { accept: mixed } });
  ratings.fault = fault;
  expect(status).toBe(200);
  expect(body).toMatchObject({ data: { whoAmI: "anonymous", bestBook: null }, extensions: marked });
  expect(body.errors).toEqual([expect.objectContaining({ path: ["bestBook"] })]);
});

describe("invalid uses are rejected as JSON", () => {
  test.each([
    ["{ whoAmI @defer }", "may not be used on FIELD"],
    ["{ ... @stream { whoAmI } }", "may not be used on INLINE_FRAGMENT"],
    ["query @defer { whoAmI }", "may not be used on QUERY"],
    ["{ ... @defer(after: 1) { whoAmI } }", 'Unknown argument "after"'],
    ['{ ... @defer(if: "yes") { whoAmI } }', "Boolean cannot represent"],
    ["{ ... @defer @defer { whoAmI } }", "can only be used once"],
    ["{ whoAmI @stream }", 'cannot be used on the field "whoAmI", which is not a list'],
    ["query ($x: Int) { ... @defer(if: $x) { whoAmI } }", 'Variable "$x" of type "Int" used in position'],
  ])("%s", async (query, message) => {
    const accept = `multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9`;
    const { status, body, headers } = await gateway.send(query, { headers: { accept } });
    expect(status).toBe(400);
    expect(headers.get("content-type")).toBe("application/graphql-response+json; charset=utf-8");
    expect(body).toEqual({
      errors: [expect.objectContaining({ message: expect.stringContaining(message) as unknown })],
    });
    expect((await gateway.send(query, { headers: { accept: mixed } })).status).toBe(200);
  });
});

test("a client that accepts only parts is rejected", async () => {
  const accept = "multipart/mixed;deferSpec=20220824";
  expect((await gateway.send("{ ... @defer { whoAmI } }", { headers: { accept } })).status).toBe(406);
});

test("a cacheable GET has an ETag of the same body", async () => {
  const query = `{ person(id: "1") { name ... @defer { email } } }`;
  const sha256Hash = createHash("sha256").update(query).digest("hex");
  const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash } });
  const registered = await fetch(`${gateway.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, extensions: JSON.parse(extensions) as object }),
  });
  const url = `${gateway.url}/graphql?${new URLSearchParams({ extensions }).toString()}`;
  const response = await fetch(url, { headers: { accept: mixed } });
  expect(response.headers.get("cache-control")).toBe("public, max-age=0, s-maxage=5");
  const etag = response.headers.get("etag") ?? "";
  expect(await response.text()).toBe(await registered.text());
  const { status } = await fetch(url, { headers: { accept: mixed, "if-none-match": etag } });
  expect(status).toBe(304);
});

test("a long response is compressed", async () => {
  const query = "{ ... @defer { list(first: 5000) @stream(initialCount: 10) } }";
  const { headers, body } = await gateway.send(query, { headers: { accept: mixed, "accept-encoding": "gzip" } });
  expect(headers.get("content-encoding")).toBe("gzip");
  expect(body).toMatchObject({ data: { list: { length: 5000 } }, extensions: marked });
});

test("the API schema lists both directives, as tools that validate documents need", async () => {
  const { body } = await gateway.send("{ __schema { directives { name args { name defaultValue } } } }");
  const { directives } = body.data.__schema as { directives: readonly object[] };
  const condition = { name: "if", defaultValue: "true" };
  const label = { name: "label", defaultValue: null };
  expect(directives).toContainEqual({ name: "defer", args: [label, condition] });
  const initialCount = { name: "initialCount", defaultValue: "0" };
  expect(directives).toContainEqual({ name: "stream", args: [label, initialCount, condition] });
  const sdl = await (await fetch(`${gateway.url}/schema.graphql`)).text();
  expect(sdl).toMatch(/^directive @defer\(.*\) on FRAGMENT_SPREAD \| INLINE_FRAGMENT$/m);
});

/** The documents that each subgraph got. */
function takeRequests() {
  return library.all.map(({ requests }) => requests.splice(0).map(({ body }) => (body as { query: string }).query));
}

function countPlans(): number {
  return gateway.observations.filter(({ kind }) => kind === "plan-built").length;
}
