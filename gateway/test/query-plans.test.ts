import { once } from "node:events";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { pickFreePort } from "@tributary/kit/process/free-port";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { FetchReport } from "../src/engine/run/fetch/fetch-reports.ts";
import type { TelemetryObservers } from "../src/telemetry/gateway-telemetry.ts";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary, startRatings } from "./helpers/library.ts";
import { type Fault, respondJson } from "./helpers/subgraphs.ts";

/* What a developer gets with `X-Query-Plan`: each request of the plan, and what became of it. */

let library: Library;
let gateway: RunningGateway;

beforeAll(async () => {
  library = await startLibrary();
});
beforeEach(() => start());
afterEach(async () => {
  await gateway.drain();
  for (const subgraph of library.all) subgraph.fault = undefined;
});
afterAll(() => library.close());

test("each request has its subgraph, operation, place and the fetches that it waited for", async () => {
  const plan = await explain("{ list: books { title stars } }");
  expect(plan).toEqual([
    {
      ...{ subgraph: "books", outcome: "sent", fetches: [0], after: [], paths: [""], attempts: 1 },
      ...{ replica: replicaOf("books"), operation: expect.stringContaining("title") },
      ...{ startMilliseconds: expect.any(Number), milliseconds: expect.any(Number), bytes: expect.any(Number) },
    },
    {
      ...{ subgraph: "ratings", outcome: "sent", fetches: [1], after: [0], paths: ["list"], attempts: 1, entities: 4 },
      ...{ replica: replicaOf("ratings"), operation: expect.stringContaining("_entities") },
      ...{ startMilliseconds: expect.any(Number), milliseconds: expect.any(Number), bytes: expect.any(Number) },
    },
  ]);
  const [books, ratings] = plan;
  expect(ratings?.startMilliseconds).toBeGreaterThan(books?.milliseconds ?? Infinity);
});

test("a start is the time since the client's request arrived, before the gateway has its body", async () => {
  const query = "{ whoAmI }";
  await explain(query);
  const headers = { "content-type": "application/json", "x-query-plan": "1", expect: "100-continue" };
  const request = requestHttp(`${gateway.url}/graphql`, { method: "POST", headers });
  request.flushHeaders();
  await once(request, "continue");
  await wait(100);
  request.end(JSON.stringify({ query }));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const { extensions } = (await readJson(response)) as { readonly extensions: { readonly queryPlan: FetchReport[] } };
  expect(extensions.queryPlan[0]?.startMilliseconds).toBeGreaterThan(50);
});

test("an operation has no literal of the client's document, and neither has a replica the query of its URL", async () => {
  await restart({ SUBGRAPH_URL_PEOPLE: `${library.people.url}/?key=secret` });
  const [people] = await explain(`{ list(first: 1234) person(id: "b1 \\"secret\\"") { name } }`);
  expect(people?.operation).toBe('{list(first:"…")person(id:"…"){name}}');
  expect(JSON.stringify(people)).not.toMatch(/secret|1234/);
});

describe("the outcome of a request", () => {
  test("that no object needs is `skipped`", async () => {
    expect(await outcomes("{ person(id: 9) { books { title } } }")).toEqual(["people sent 1", "books skipped 0"]);
  });

  test("to which the subgraph does not respond is `failed`, with the code", async () => {
    library.people.fault = (response) => response.writeHead(500).end("a secret");
    const [fetch] = await explain("{ whoAmI }");
    expect(fetch).toMatchObject({ outcome: "failed", code: "SUBGRAPH_INVALID_RESPONSE", attempts: 1 });
    expect(fetch?.failedAttempts).toEqual([`${library.people.url} status 500`]);
    expect(JSON.stringify(fetch)).not.toContain("secret");
  });

  test("whose fields have errors is `sent`, with their number and the size of the response", async () => {
    const text = '{"data":{"whoAmI":null},"errors":[{"message":""}]}';
    library.people.fault = (response) => respondJson(response, 200, text);
    expect(await explain("{ whoAmI }")).toMatchObject([{ outcome: "sent", errors: 1, bytes: text.length }]);
  });

  test("that is in flight for another client is `shared`, with the replica that responds", async () => {
    const joined = Promise.withResolvers<void>();
    const begin = () => ({ traced: undefined, end() {} });
    await restart({}, { requestObserver: undefined, fetchObserver: { begin, share: () => joined.resolve() } });
    library.people.fault = async (response, _, __, resolveCorrectly) => {
      await joined.promise;
      respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
    };
    const received = library.people.requests.length;
    const first = explain("{ whoAmI }");
    await expect.poll(() => library.people.requests.length).toBe(received + 1);
    const second = explain("{ whoAmI }");
    expect(await first).toMatchObject([{ outcome: "sent", attempts: 1, replica: replicaOf("people") }]);
    expect(await second).toMatchObject([{ outcome: "shared", attempts: 0, replica: replicaOf("people"), bytes: 0 }]);
  });

  test("that a second replica responds to is `retried`, with the replica that failed", async () => {
    const other = await startRatings();
    const failed: string[] = [];
    const failOf =
      (url: string): Fault =>
      (response) => {
        failed.push(`${url} status 503`);
        library.ratings.fault = other.fault = undefined;
        response.writeHead(503).end();
      };
    library.ratings.fault = failOf(library.ratings.url);
    other.fault = failOf(other.url);
    await restart({ SUBGRAPH_URL_RATINGS: `${library.ratings.url},${other.url}` });
    expect(await explain("{ bestBook { stars } }")).toMatchObject([
      { outcome: "retried", attempts: 2, failedAttempts: failed },
    ]);
    await other.close();
  });

  test("that no replica accepts is `failed`, with each replica", async () => {
    const urls = [await pickFreePort(), await pickFreePort()].map((port) => `http://127.0.0.1:${port}`);
    await restart({ SUBGRAPH_URL_PEOPLE: urls.join() });
    const [fetch] = await explain("{ whoAmI }");
    expect(fetch?.failedAttempts?.toSorted()).toEqual(urls.map((url) => `${url}/ refused`).toSorted());
  });

  test("that is not sent, since the breaker is open, is `failed`, with the reason", async () => {
    await restart({ SUBGRAPH_URL_PEOPLE: `http://127.0.0.1:${await pickFreePort()}` });
    const reports = async () => (await explain("{ whoAmI }"))[0];
    await expect
      .poll(reports, { timeout: 10_000 })
      .toMatchObject({ outcome: "failed", attempts: 0, notSent: "No replica responds, not to probes either" });
  });

  test("whose document the subgraph rejects is `split`, and its parts follow, the next time at once", async () => {
    library.people.fault = async (response, { query }, _, resolveCorrectly) => {
      const isWhole = query.includes("list") && query.includes("whoAmI");
      const result = isWhole ? { errors: [{ message: "No such field." }] } : await resolveCorrectly();
      respondJson(response, isWhole ? 400 : 200, JSON.stringify(result));
    };
    const query = "{ list(first: 1) whoAmI }";
    expect(await outcomes(query)).toEqual(["people split 1", "people sent 1", "people sent 1"]);
    expect(await outcomes(query)).toEqual(["people split 0", "people sent 1", "people sent 1"]);
  });

  test("that the entity cache has a part for is `sent`, with the replica that sent the rest", async () => {
    await restart({ ENTITY_CACHE_RATINGS: "on", SUBGRAPH_FEED_URL_RATINGS: "none" });
    library.ratings.fault = async (response, _, __, resolveCorrectly) =>
      respondJson(response, 200, JSON.stringify(await resolveCorrectly()), { "cache-control": "public, max-age=60" });
    await explain(`{ book(isbn: "b1") { stars } }`);
    const [, ratings] = await explain("{ books { stars } }");
    expect(ratings).toMatchObject({ outcome: "sent", attempts: 1, replica: replicaOf("ratings") });
  });

  test("that the entity cache has everything for is `cached`", async () => {
    await restart({ ENTITY_CACHE_RATINGS: "on", SUBGRAPH_FEED_URL_RATINGS: "none" });
    library.ratings.fault = async (response, _, __, resolveCorrectly) =>
      respondJson(response, 200, JSON.stringify(await resolveCorrectly()), { "cache-control": "public, max-age=60" });
    expect(await outcomes("{ books { stars } }")).toEqual(["books sent 1", "ratings sent 1"]);
    const [, ratings] = await explain("{ books { stars } }");
    expect(ratings).toMatchObject({ outcome: "cached", attempts: 0, bytes: 0, replica: "entity cache" });
  });
});

describe("a masked error", () => {
  const secret = "relation passwords does not exist";
  const frame = "    at findUser (/srv/users/src/store.ts:12:3)";
  const query = "{ people { name } }";
  const withPlan = { "x-query-plan": "1", "x-request-id": "r-1" };

  beforeEach(() => {
    respondWithError({ message: "Internal error.", extensions: { stacktrace: [secret, "    at node:x:1:1", frame] } });
  });

  test("has the message and the first own frame that the subgraph sent, and the request id", async () => {
    expect(await readErrors(withPlan)).toEqual([
      {
        message: "The service behind this field failed.",
        path: ["people"],
        extensions: {
          cause: { message: secret, at: "at findUser (/srv/users/src/store.ts:12:3)", requestId: "r-1" },
          ...{ code: "SUBGRAPH_ERROR", service: "people" },
        },
      },
    ]);
    respondWithError({ message: secret });
    expect((await readErrors(withPlan))[0]?.extensions).toMatchObject({ cause: { message: secret, requestId: "r-1" } });
  });

  test("has no mail address and no token in its cause, whatever the subgraph sends", async () => {
    respondWithError({ message: "No user ada@example.com, sent with Bearer abc.def.ghi" });
    const [error] = await readErrors(withPlan);
    expect(error?.extensions).toMatchObject({ cause: { message: "No user <email>, sent with Bearer <token>" } });
  });

  test("has no cause without the header, and never in production", async () => {
    const masked = { code: "SUBGRAPH_ERROR", service: "people" };
    expect((await readErrors({}))[0]?.extensions).toEqual(masked);
    await restart({ PROFILE: "production", TRUSTED_PROXIES: "none", CONSISTENCY_KEYS: "a key for tests only" });
    for (let times = 0; times < 2; times++) {
      const { text, body } = await gateway.send(query, { headers: withPlan });
      expect(body.errors[0].extensions).toEqual(masked);
      expect(body).not.toHaveProperty("extensions");
      expect(text).not.toMatch(/passwords|store\.ts|r-1/);
    }
  });

  test("an error that is meant for the client has no cause", async () => {
    respondWithError({ message: "Not yours.", extensions: { code: "FORBIDDEN", stacktrace: [secret] } });
    expect((await readErrors(withPlan))[0]?.extensions).toEqual({ code: "FORBIDDEN", service: "people" });
  });

  function respondWithError(error: object): void {
    const body = JSON.stringify({ data: { people: null }, errors: [{ path: ["people"], ...error }] });
    library.people.fault = (response) => respondJson(response, 200, body);
  }

  async function readErrors(headers: Record<string, string>): Promise<readonly { extensions: unknown }[]> {
    return (await gateway.send(query, { headers })).body.errors;
  }
});

async function start(environment: Record<string, string> = {}, observers?: TelemetryObservers): Promise<void> {
  gateway = await startGateway({ supergraphSdl: library.supergraphSdl, environment, observers });
}

async function restart(environment: Record<string, string>, observers?: TelemetryObservers): Promise<void> {
  await gateway.drain();
  await start(environment, observers);
}

async function explain(query: string): Promise<readonly FetchReport[]> {
  const { body } = await gateway.send(query, { headers: { "x-query-plan": "1" } });
  return body.extensions.queryPlan;
}

async function outcomes(query: string): Promise<readonly string[]> {
  const plan = await explain(query);
  return plan.map(({ subgraph, outcome, attempts }) => `${subgraph} ${outcome} ${attempts}`);
}

function replicaOf(name: "books" | "ratings" | "people") {
  return expect.stringContaining(new URL(library[name].url).host);
}
