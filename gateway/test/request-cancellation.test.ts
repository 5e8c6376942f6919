import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { FetchObserver } from "../src/telemetry/fetch-observer.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

const addBook = 'mutation { addBook(title: "T") { title } }';
const addAndRename = 'mutation { addBook(title: "T") { title } rename(id: 1, name: "A") { name } }';

const abortedFetches = [
  { during: "a root fetch", query: "{ person(id: 1) { name books { stars } } }", held: ["people"], later: "books" },
  { during: "an entity fetch", query: "{ bestBook { title author { name } } }", held: ["books"], later: "people" },
  { during: "parallel fetches", query: "{ books { title stars author { name } } }", held: ["people", "ratings"] },
] as const;
/** Only the deadline of the request ends a fetch. */
const environment = { REQUEST_TIMEOUT_MS: "2000", SUBGRAPH_TIMEOUT_MS: "300000" };
let library: Library;
let gateway: RunningGateway;
const ended: string[] = [];

beforeAll(async () => {
  library = await startLibrary();
  const fetchObserver: FetchObserver = {
    begin: () => ({ traced: undefined, end: ({ kind }) => void ended.push(kind) }),
    share() {},
  };
  const observers = { requestObserver: undefined, fetchObserver };
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl, environment, observers });
  // Planning takes longer the first time.
  const aborted = abortedFetches.map(({ query }) => query);
  for (const query of [...aborted, "{ books { title stars } whoAmI }", "{ whoAmI }", addBook, addAndRename])
    await gateway.send(query);
});
beforeEach(() => {
  gateway.observations.length = 0;
  ended.length = 0;
  for (const subgraph of library.all) {
    subgraph.fault = undefined;
    subgraph.requests.length = 0;
  }
});
afterAll(async () => {
  await gateway.drain();
  await library.close();
});

/** Lets the subgraph never respond. Resolves with the response object of its next request. */
function silence(subgraph: Library["people"]): Promise<ServerResponse> {
  return new Promise((resolve) => (subgraph.fault = resolve));
}

test.each(
  abortedFetches.flatMap((one) => [one, { ...one, sent: " ", during: `${one.during} with a part of its response` }]),
)(
  "when the client disconnects during $during its fetches are aborted and later ones are not sent",
  async ({ query, held, ...o }) => {
    const silent = held.map((name) => silence(library[name]));
    const client = new AbortController();
    const requested = gateway.send(query, { signal: client.signal }).catch((error: Error) => error.name);
    const responses = await Promise.all(silent);
    if ("sent" in o) for (const response of responses) response.write(o.sent);
    const aborted = Promise.all(responses.map((response) => once(response, "close")));
    client.abort();
    await aborted;
    expect(await requested).toBe("AbortError");
    await gateway.seen("client-disconnected");
    expect((await gateway.send("{ __typename }")).status).toBe(200);
    if ("later" in o) expect(library[o.later].requests).toHaveLength(0);
    expect(gateway.observations.map(({ kind }) => kind)).not.toContain("subgraph-fetch-failed");
  },
);

test("a fetch that another client shares is completed when one client disconnects", async () => {
  const silent = silence(library.people);
  const client = new AbortController();
  const leaving = gateway.send("{ whoAmI }", { signal: client.signal }).catch((error: Error) => error.name);
  const subgraphResponse = await silent;
  const remaining = gateway.send("{ whoAmI }");
  client.abort();
  expect(await leaving).toBe("AbortError");
  await gateway.seen("client-disconnected");
  subgraphResponse.setHeader("content-type", "application/json").end('{"data":{"whoAmI":"anonymous"}}');
  expect((await remaining).body).toEqual({ data: { whoAmI: "anonymous" } });
  expect(library.people.requests).toHaveLength(1);
});

test("when the client disconnects a mutation in flight is completed, and the remaining ones are not sent", async () => {
  const silent = silence(library.books);
  const client = new AbortController();
  const requested = gateway.send(addAndRename, { signal: client.signal }).catch((error: Error) => error.name);
  const subgraphResponse = await silent;
  client.abort();
  await Promise.all([requested, gateway.seen("client-disconnected")]);
  expect((await gateway.send("{ whoAmI }")).status).toBe(200);
  expect(subgraphResponse.closed).toBe(false);
  const finished = once(subgraphResponse, "finish");
  subgraphResponse.setHeader("content-type", "application/json").end('{"data":{"addBook":{"title":"T"}}}');
  await finished;
  expect((await gateway.send("{ whoAmI }")).status).toBe(200);
  expect(library.people.requests.map(({ body }) => body.query)).not.toContainEqual(expect.stringContaining("rename"));
});

test("a mutation whose client has disconnected ends at the deadline of the request", async () => {
  const silent = silence(library.books);
  const client = new AbortController();
  const requested = gateway.send(addBook, { signal: client.signal }).catch((error: Error) => error.name);
  const subgraphResponse = await silent;
  const ended = once(subgraphResponse, "close");
  client.abort();
  await Promise.all([requested, gateway.seen("client-disconnected"), ended]);
  expect(subgraphResponse.writableFinished).toBe(false);
});

const deadlineOf = (subgraph: Library["people"]) => Number(subgraph.requests[0]?.headers["x-deadline-ms"]);

test("a client sets its own deadline, which its subgraph gets less 5 % for a mutation", async () => {
  const silent = silence(library.books);
  const requested = gateway.send(addBook, { headers: { "x-deadline-ms": "1000" } });
  const aborted = once(await silent, "close");
  const { body } = await requested;
  await aborted;
  expect(body.errors).toMatchObject([{ path: ["addBook"], extensions: { code: "SUBGRAPH_TIMEOUT" } }]);
  expect(deadlineOf(library.books)).toBeGreaterThan(0);
  expect(deadlineOf(library.books)).toBeLessThanOrEqual(950);
});

test("a shared fetch has the time of its subgraph, and each client leaves at its own deadline", async () => {
  const silent = silence(library.people);
  const ada = gateway.send("{ whoAmI }", { headers: { "x-deadline-ms": "1000" } });
  const subgraphResponse = await silent;
  const grace = gateway.send("{ whoAmI }");
  expect((await ada).body.errors).toMatchObject([{ extensions: { code: "SUBGRAPH_TIMEOUT" } }]);
  subgraphResponse.setHeader("content-type", "application/json").end('{"data":{"whoAmI":"anonymous"}}');
  expect((await grace).body).toEqual({ data: { whoAmI: "anonymous" } });
  expect(library.people.requests).toHaveLength(1);
  expect(deadlineOf(library.people)).toBeGreaterThan(9_000);
});

test.each([
  ["{ whoAmI }", "people", "timeout", "failed", ["subgraph-fetch-failed"], {}],
  ["{ whoAmI }", "people", "client's deadline", "abandoned", [], { "x-deadline-ms": "50" }],
  [addBook, "books", "client's deadline", "abandoned", [], { "x-deadline-ms": "50" }],
] as const)("%s is late: %s does not respond before the %s", async (query, name, _, kind, observed, headers) => {
  void silence(library[name]);
  const { body } = await gateway.send(query, { headers });
  expect(body.errors).toMatchObject([{ extensions: { code: "SUBGRAPH_TIMEOUT", service: name } }]);
  expect(ended).toEqual([kind]);
  expect(gateway.observations.map((observation) => observation.kind)).toEqual(observed);
});

test.each(["soon", "-1", "1.5", ""])("the malformed deadline '%s' is ignored", async (deadline) => {
  expect((await gateway.send("{ whoAmI }", { headers: { "x-deadline-ms": deadline } })).body).toEqual({
    data: { whoAmI: "anonymous" },
  });
  expect(deadlineOf(library.people)).toBeGreaterThan(9_000);
});

test("at the deadline the client gets the fetched data, and later fetches are not sent", async () => {
  const silent = silence(library.books);
  const requested = gateway.send("{ books { title stars } whoAmI }");
  const aborted = once(await silent, "close");
  const { status, body } = await requested;
  await aborted;
  expect(status).toBe(200);
  expect(body).toEqual({
    errors: [
      {
        message: "The service behind this field did not respond in time.",
        path: ["books"],
        extensions: { code: "SUBGRAPH_TIMEOUT", service: "books" },
      },
    ],
    data: { books: null, whoAmI: "anonymous" },
  });
  expect(library.ratings.requests).toHaveLength(0);
});

test("a fetch that is not sent because the deadline has passed has its own code, and its subgraph is not blamed", async () => {
  void silence(library.books);
  const { body } = await gateway.send(addAndRename);
  expect(body).toEqual({
    errors: [
      expect.objectContaining({ path: ["addBook"], extensions: { code: "SUBGRAPH_TIMEOUT", service: "books" } }),
      {
        message: "The request ran out of time before this field was fetched.",
        path: ["rename"],
        extensions: { code: "DEADLINE_EXCEEDED" },
      },
    ],
    data: { addBook: null, rename: null },
  });
  expect(library.people.requests).toHaveLength(0);
  expect(gateway.observations).toEqual([expect.objectContaining({ kind: "subgraph-fetch-failed", service: "books" })]);
});

test("a response of a subgraph that arrives while the client disconnects causes no error", async () => {
  for (let i = 0; i < 20; i++) {
    const client = new AbortController();
    const requested = gateway.send("{ books { title stars } }", { signal: client.signal }).catch(() => undefined);
    setImmediate(() => client.abort());
    await requested;
  }
  expect((await gateway.send("{ whoAmI }")).body).toEqual({ data: { whoAmI: "anonymous" } });
  expect(gateway.observations.map(({ kind }) => kind)).not.toContain("internal-error");
});

test("a mutation that is late for a client that has disconnected before is no failure of the subgraph", async () => {
  const silent = silence(library.books);
  const client = new AbortController();
  const options = { signal: client.signal, headers: { "x-deadline-ms": "200" } };
  const requested = gateway.send(addBook, options).catch((error: Error) => error.name);
  const subgraphResponse = await silent;
  const closed = once(subgraphResponse, "close");
  client.abort();
  await Promise.all([requested, gateway.seen("client-disconnected"), closed]);
  await expect.poll(() => ended.length).toBe(1);
  expect(ended).toEqual(["abandoned"]);
});
