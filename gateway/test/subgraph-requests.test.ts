import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type GraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary, startRatings } from "./helpers/library.ts";
import {
  type Fault,
  type RunningSubgraph,
  composeSupergraph,
  respondJson,
  startSubgraph,
} from "./helpers/subgraphs.ts";

describe("headers and variables", () => {
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

  test("subgraphs get the token, the trace, the request id and the time left, and no other header of the client", async () => {
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
        traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-00$/),
        "x-deadline-ms": expect.stringMatching(/^9\d{3}$/),
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
    const response = await fetch(`${gateway.url}/graphql`, { method: "POST", headers, body });
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: "BAD_USER_INPUT" } }] });
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
    const parents = library.all.flatMap(({ requests }) =>
      requests.map(({ headers }) => String(headers["traceparent"])),
    );
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
});

describe("replicas and retries", () => {
  let library: Library;
  let second: RunningSubgraph;
  let gateway: RunningGateway;

  beforeEach(async () => {
    library = await startLibrary();
    second = await startRatings();
    gateway = await startGateway({
      supergraphSdl: library.supergraphSdl,
      // Shared fetches would be fewer than requests.
      environment: { FETCH_SHARING: "false", SUBGRAPH_URL_RATINGS: `${library.ratings.url}, ${second.url}` },
    });
  });
  afterEach(async () => {
    await gateway.drain();
    await Promise.all([library.close(), second.close()]);
  });

  test("fetches are distributed over the replicas of a subgraph", async () => {
    await sendMany(100);
    const [some, others] = [library.ratings.requests.length, second.requests.length];
    expect(some + others).toBe(100);
    expect(Math.min(some, others)).toBeGreaterThan(25);
  });

  test("no query fails when one of two replicas is killed under load", async () => {
    await sendMany(50);
    const [responses] = await Promise.all([sendMany(300), second.close()]);
    expect(responses.filter(({ body }) => body.errors)).toEqual([]);
    expect(gateway.observations).toContainEqual({
      kind: "replica-ejected",
      service: "ratings",
      replica: second.url,
      reason: "failing",
      pauseMs: 1_000,
      cause: expect.any(Error),
    });
  });

  test("a query is retried when its connection breaks, and a mutation is sent once", async () => {
    library.books.fault = reset;
    const query = await gateway.send("{ books { title } }");
    expect(query.body.errors[0].extensions.code).toBe("SUBGRAPH_UNAVAILABLE");
    expect(library.books.requests).toHaveLength(3);
    const mutation = await gateway.send('mutation { addBook(title: "T") { title } }');
    expect(mutation.body.errors[0].extensions.code).toBe("SUBGRAPH_UNAVAILABLE");
    expect(library.books.requests).toHaveLength(4);
  });

  test("an entity fetch of a mutation is a query, and is retried", async () => {
    library.ratings.fault = reset;
    second.fault = reset;
    const { body } = await gateway.send('mutation { addBook(title: "T") { title stars } }');
    expect(body.data).toEqual({ addBook: { title: "T", stars: null } });
    expect(library.books.requests).toHaveLength(1);
    expect(library.ratings.requests.length + second.requests.length).toBe(3);
  });

  test("a query whose replica responds 503 is retried on another one, and the last response is used if both do", async () => {
    const unavailable: Fault = async (response, _, __, resolveCorrectly) =>
      respondJson(response, 503, JSON.stringify(await resolveCorrectly()));
    library.ratings.fault = unavailable;
    const responses = await sendMany(20);
    second.fault = unavailable;
    responses.push(...(await sendMany(20)));
    for (const { body } of responses) expect(body).toEqual({ data: { bestBook: { isbn: "b1", stars: 1 } } });
    expect(gateway.observations).toContainEqual(
      expect.objectContaining({ kind: "retried", reason: "status", status: 503 }),
    );
  });

  const reset: Fault = (response) => void response.socket?.resetAndDestroy();

  async function sendMany(count: number): Promise<GraphqlResponse[]> {
    const responses: GraphqlResponse[] = [];
    const run = async () => {
      while (count-- > 0) responses.push(await gateway.send("{ bestBook { isbn stars } }"));
    };
    await Promise.all(Array.from({ length: 10 }, run));
    return responses;
  }
});

describe("serial mutations", () => {
  let accounts: RunningSubgraph;
  let audits: RunningSubgraph;
  let gateway: RunningGateway;
  /** The names of the mutation fields that ran, in order. */
  let ran: string[];

  beforeAll(async () => {
    [accounts, audits] = await Promise.all([startAccounts(), startAudits()]);
    gateway = await startGateway({ supergraphSdl: composeSupergraph([accounts, audits]) });
  });
  beforeEach(() => void (ran = []));
  afterEach(() => void (accounts.fault = audits.fault = undefined));
  afterAll(async () => {
    await gateway.drain();
    await Promise.all([accounts.close(), audits.close()]);
  });

  // GraphQL specification, "Mutation" and "Executing Selection Sets": fields run serially, and an error of a non-null one ends the operation.
  test("after a non-null mutation field has failed, no later field runs, and data is null", async () => {
    const { body } = await gateway.send("mutation { a: open { id } b: reject { id } c: record d: open { id } }");
    expect(ran).toEqual(["open", "reject"]);
    expect(body).toMatchObject({ data: null, errors: [{ path: ["b"] }] });
    expect(body.errors).toHaveLength(1);
  });

  test("after a nullable mutation field has failed, the later ones run", async () => {
    const { body } = await gateway.send("mutation { a: attempt { id } b: open { id } c: record }");
    expect(ran).toEqual(["attempt", "open", "record"]);
    expect(body).toMatchObject({ data: { a: null, b: { id: "1" }, c: 1 }, errors: [{ path: ["a"] }] });
  });

  test("a null that propagates to the field from a later fetch ends the operation, too", async () => {
    audits.fault = (response, { query }, _request, resolveCorrectly) => {
      if (query.includes("_entities")) response.destroy();
      else void resolveCorrectly().then((result) => respondJson(response, 200, JSON.stringify(result)));
    };
    const { body } = await gateway.send("mutation { open { audit { entry } } record close }");
    expect(ran).toEqual(["open"]);
    expect(body).toMatchObject({ data: null, errors: [{ path: ["open", "audit"] }] });
  });

  test("a subgraph that is down ends the operation if its mutation field is non-null", async () => {
    audits.fault = (response) => response.destroy();
    const { body } = await gateway.send("mutation { first: close record last: close }");
    expect(ran).toEqual(["close"]);
    expect(body).toMatchObject({ data: null, errors: [{ path: ["record"] }] });
  });

  function startAccounts(): Promise<RunningSubgraph> {
    const run = (name: string) => void ran.push(name);
    const fail = (name: string) => () => {
      run(name);
      throw new Error("failed");
    };
    return startSubgraph({
      name: "accounts",
      typeDefs: `
      type Query { account: Account }
      type Mutation { open: Account! reject: Account! attempt: Account close: Int! }
      type Account @key(fields: "id") { id: ID! }
    `,
      resolvers: {
        Mutation: {
          open: () => (run("open"), { id: "1" }),
          close: () => (run("close"), 1),
          reject: fail("reject"),
          attempt: fail("attempt"),
        },
      },
    });
  }

  function startAudits(): Promise<RunningSubgraph> {
    return startSubgraph({
      name: "audits",
      typeDefs: `
      type Mutation { record: Int! }
      type Account @key(fields: "id") { id: ID! audit: Audit! }
      type Audit { entry: Int }
    `,
      resolvers: {
        Mutation: { record: () => ran.push("record") && 1 },
        Account: { __resolveReference: (key: object) => ({ ...key, audit: { entry: 1 } }) },
      },
    });
  }
});
