import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type GraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary, startRatings } from "./helpers/library.ts";
import { respondJson, type Fault } from "./helpers/subgraphs.ts";

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
  gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { SUBGRAPH_TIMEOUT_MS: "800", SUBGRAPH_BODY_BYTES_MAX: "5000" },
  });
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});
beforeEach(() => {
  for (const subgraph of library.all) subgraph.fault = undefined;
  gateway.observations.length = 0;
});

const secret = "at db.internal:5432 SELECT password";
const answer = (status: number, text: string) => (response: ServerResponse) => respondJson(response, status, text);
const html = "<!DOCTYPE html><h1>Internal Server Error</h1>";

const faults: readonly (readonly [name: string, code: string, fault: Fault])[] = [
  ["closes the connection", "SUBGRAPH_UNAVAILABLE", (response) => response.destroy()],
  ["never answers", "SUBGRAPH_TIMEOUT", () => {}],
  ["stops in the middle of its body", "SUBGRAPH_TIMEOUT", (response) => response.writeHead(200).write('{"data":')],
  ["drips", "SUBGRAPH_TIMEOUT", drip],
  [
    "breaks off its body",
    "SUBGRAPH_UNAVAILABLE",
    (response) => response.writeHead(200, { "content-length": 99 }).write("{", () => response.destroy()),
  ],
  ["answers 500 with HTML", "SUBGRAPH_BAD_ANSWER", answer(500, html)],
  ["answers 200 with HTML", "SUBGRAPH_BAD_ANSWER", answer(200, html)],
  ["answers with nothing", "SUBGRAPH_BAD_ANSWER", answer(200, "")],
  ["answers with half a JSON text", "SUBGRAPH_BAD_ANSWER", answer(200, `{"data":{"x":"${secret}`)],
  ["answers with a list", "SUBGRAPH_BAD_ANSWER", answer(200, "[]")],
  ["answers with data that is a text", "SUBGRAPH_BAD_ANSWER", answer(200, `{"data":"${secret}"}`)],
  ["answers with no data", "SUBGRAPH_BAD_ANSWER", answer(200, '{"data":null}')],
  ["answers with empty data", "SUBGRAPH_BAD_ANSWER", answer(200, '{"data":{}}')],
  ["answers errors that are a text", "SUBGRAPH_BAD_ANSWER", answer(200, `{"errors":"boom ${secret}"}`)],
  ["answers errors that are null", "SUBGRAPH_BAD_ANSWER", answer(200, '{"data":null,"errors":[null]}')],
  ["answers too much", "SUBGRAPH_ANSWER_TOO_LARGE", answer(200, `{"data":{"x":"${"x".repeat(6000)}"}}`)],
  ["answers 401 with a text", "SUBGRAPH_BAD_ANSWER", answer(401, "who are you")],
  [
    "answers 401 in GraphQL",
    "UNAUTHENTICATED",
    answer(401, '{"errors":[{"message":"This needs a token.","extensions":{"code":"UNAUTHENTICATED"}}]}'),
  ],
  ["answers 429", "SUBGRAPH_UNAVAILABLE", (response) => response.writeHead(429, { "retry-after": "99999" }).end("{}")],
  ["answers 503", "SUBGRAPH_UNAVAILABLE", answer(503, '{"errors":[{"message":"later"}]}')],
  ["redirects", "SUBGRAPH_BAD_ANSWER", (response) => response.writeHead(302, { location: library.books.url }).end()],
  [
    "packs its answer unasked",
    "SUBGRAPH_BAD_ANSWER",
    (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("{}")),
  ],
  ["speaks no HTTP", "SUBGRAPH_BAD_ANSWER", (response) => response.socket?.end("SSH-2.0-OpenSSH\r\n")],
  [
    "reports SERVICE_UNAVAILABLE",
    "SUBGRAPH_UNAVAILABLE",
    answer(200, `{"data":null,"errors":[{"message":"${secret}","extensions":{"code":"SERVICE_UNAVAILABLE"}}]}`),
  ],
  [
    "fails for reasons of its own",
    "SUBGRAPH_ERROR",
    answer(
      200,
      `{"data":null,"errors":[{"message":"${secret}","extensions":{"code":"INTERNAL_SERVER_ERROR","stacktrace":["${secret}"]}}]}`,
    ),
  ],
];

describe.each(faults)("a subgraph that %s", (_, code, fault) => {
  test("makes a root field null and nothing else", async () => {
    library.people.fault = fault;
    const { status, body, text } = await gateway.send("{ person(id: 1) { name } books { title } }");
    expect(status).toBe(200);
    expect(body.data).toEqual({ person: null, books: titles });
    expect(places(body)).toEqual([["person"]]);
    expectMasked(body, text, code, "people");
  });

  test("makes the fields of an entity null, with one error for each, and nothing else", async () => {
    library.ratings.fault = fault;
    const { status, body, text } = await gateway.send("{ books { title stars } }");
    expect(status).toBe(200);
    expect(body.data.books).toEqual(titles.map(({ title }) => ({ title, stars: null })));
    expect(places(body)).toEqual([0, 1, 2, 3].map((i) => ["books", i, "stars"]));
    expectMasked(body, text, code, "ratings");
  });

  test("does not affect sibling fields", async () => {
    library.people.fault = fault;
    const { body } = await gateway.send("{ books { title stars author { name } } }");
    expect(body.data.books).toEqual(titles.map(({ title }, i) => ({ title, stars: i + 1, author: null })));
    expect(places(body)).toEqual([0, 1, 3].map((i) => ["books", i, "author", "name"]));
  });

  test("makes a mutation null, which is sent once", async () => {
    library.books.fault = fault;
    const before = library.books.requests.length;
    const { status, body, text } = await gateway.send(
      'mutation { addBook(title: "T") { title } rename(id: 1, name: "A") { name } }',
    );
    expect(status).toBe(200);
    expect(body.data).toEqual({ addBook: null, rename: { name: "A" } });
    expect(places(body)).toEqual([["addBook"]]);
    expectMasked(body, text, code, "books");
    expect(library.books.requests.length).toBe(before + 1);
  });

  test("is logged once", async () => {
    library.people.fault = fault;
    await gateway.send("{ person(id: 1) { name } }");
    const kinds = gateway.observations.map(({ kind }) => kind).filter((kind) => kind !== "retried");
    expect(kinds).toEqual([
      expect.stringMatching(/^(subgraph-(fetch-failed|errors|response-invalid)|values-rejected)$/),
    ]);
  });
});

test("the fields of a subgraph that is down are null, and are served again after its restart", async () => {
  const port = Number(new URL(library.ratings.url).port);
  await library.ratings.close();
  const down = await gateway.send("{ books { title stars } }");
  expect(down.body.data.books[0]).toEqual({ title: "Engines", stars: null });
  expectMasked(down.body, down.text, "SUBGRAPH_UNAVAILABLE", "ratings");

  const back = await startRatings(port);
  expect((await gateway.send("{ books { title stars } }")).body).toMatchObject({
    data: { books: { 0: { stars: 1 } } },
  });
  await back.close();
});

const titles = ["Engines", "Compilers", "Anonymous", "Engines II"].map((title) => ({ title }));

function places(body: GraphqlResponse["body"]): unknown[] {
  return body.errors.map((error: { path: unknown }) => error.path);
}

function expectMasked(body: GraphqlResponse["body"], text: string, code: string, service: string): void {
  for (const { extensions } of body.errors) expect(extensions).toEqual({ code, service });
  expect(text).not.toMatch(/127\.0\.0\.1|localhost|SELECT|stack|node_modules|<h1>/);
  expect(body.extensions).toBeUndefined();
}

function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write(" "), 10);
  response.on("close", () => clearInterval(timer));
}
