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

test("subgraphs get the token, the trace and the request id, and nothing else of the client's", async () => {
  await gateway.ask("{ books { title author { name } } }", {
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

test("without a token none is made up, and an id and a trace are", async () => {
  await gateway.ask("{ whoAmI }");
  const { headers } = library.people.requests[0]!;
  expect(headers).not.toHaveProperty("authorization");
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test("every fetch of a request is a span of its own in one trace", async () => {
  await gateway.ask("{ books { author { name } stars } }");
  const parents = library.all.flatMap(({ requests }) => requests.map(({ headers }) => String(headers["traceparent"])));
  expect(parents).toHaveLength(3);
  expect(new Set(parents).size).toBe(3);
  expect(new Set(parents.map((parent) => parent.split("-")[1])).size).toBe(1);
});

test("subgraphs get the provided variables that they need", async () => {
  await gateway.ask(
    "query ($id: ID!, $unused: ID = 5) { person(id: $id) { name } other: person(id: $unused) { name } }",
    {
      variables: { id: "1" },
    },
  );
  expect(library.people.requests[0]!.body.variables).toEqual({ id: "1" });
});
