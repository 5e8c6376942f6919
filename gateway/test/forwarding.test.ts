import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
beforeEach(() => {
  for (const { requests } of library.all) requests.length = 0;
});

test("subgraphs get the token, the trace and the request id, and no other header of the client", async () => {
  await gateway.send("{ books { title author { name } } }", {
    headers: {
      authorization: "Bearer a.b.c",
      "x-request-id": "r-7",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      cookie: "session=1",
      "x-user-id": "1",
      "x-forwarded-for": "10.0.0.1",
      forwarded: "for=10.0.0.1",
      tracestate: "a=b",
      "user-agent": "client",
    },
  });
  for (const { requests } of [library.books, library.people]) {
    expect(requests).toHaveLength(1);
    const { headers } = requests[0]!;
    expect(headers).toEqual({
      accept: "application/json",
      authorization: "Bearer a.b.c",
      connection: "keep-alive",
      "content-length": expect.any(String),
      "content-type": "application/json",
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/),
      "x-request-id": "r-7",
    });
  }
});

test("an id that is a number too long for a double reaches the subgraph with all its digits, and a number stays one", async () => {
  const query = "query ($id: ID!, $first: Int!) { person(id: $id) { name } list(first: $first) }";
  const variables = '{"id":9007199254740993,"first":3}';
  const url = `${gateway.url}/graphql`;
  const headers = { "content-type": "application/json", "apollo-require-preflight": "1" };
  const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  await fetch(url, { method: "POST", headers, body });
  await fetch(`${url}?${new URLSearchParams({ query, variables }).toString()}`, { headers });
  await gateway.send("{ person(id: 9007199254740993) { name } }");
  const sent = library.people.requests.map(({ body }) => JSON.stringify(body));
  expect(sent).toHaveLength(3);
  for (const text of sent) expect(text).not.toContain("9007199254740992");
  expect(library.people.requests.slice(0, 2).map(({ body }) => new Set(Object.values(body.variables)))).toEqual([
    new Set([3, "9007199254740993"]),
    new Set([3, "9007199254740993"]),
  ]);
});

test("a number too long for a double is rejected where a number is required", async () => {
  const query = "query ($first: Int!) { list(first: $first) }";
  const body = `{"query":${JSON.stringify(query)},"variables":{"first":9007199254740993}}`;
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${gateway.url}/graphql`, { method: "POST", headers, body });
  expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: "BAD_USER_INPUT" } }] });
  expect(library.people.requests).toEqual([]);
});

test("a request without headers gets an id and a trace, and no token", async () => {
  await gateway.send("{ whoAmI }");
  const { headers } = library.people.requests[0]!;
  expect(headers).not.toHaveProperty("authorization");
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test("every fetch of a request is a separate span of one trace", async () => {
  await gateway.send("{ books { author { name } stars } }");
  const parents = library.all.flatMap(({ requests }) => requests.map(({ headers }) => String(headers["traceparent"])));
  expect(parents).toHaveLength(3);
  expect(new Set(parents).size).toBe(3);
  expect(new Set(parents.map((parent) => parent.split("-")[1])).size).toBe(1);
});

test("subgraphs get the provided variables that they need", async () => {
  await gateway.send(
    "query ($id: ID!, $unused: ID = 5) { person(id: $id) { name } other: person(id: $unused) { name } }",
    {
      variables: { id: "1" },
    },
  );
  expect(library.people.requests[0]!.body.variables).toEqual({ id: "1" });
});
