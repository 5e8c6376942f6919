import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { createReceipts } from "@tributary/kit/consistency/receipts";
import { writePositionHeader } from "@tributary/kit/consistency/write-position-header";
import { type WritePosition, writeWritePosition } from "@tributary/kit/feed/position";
import { startTestIssuer, type TestIssuer } from "@tributary/kit/testing/issuer";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { startStubFeed, type StubFeed } from "@tributary/kit/testing/stub-feed";
import {
  composeSupergraph,
  type Fault,
  type RunningSubgraph,
  respondJson,
  startSubgraph,
} from "./helpers/subgraphs.ts";

// The entity cache of the gateway, with a subgraph `stars` that is cached and follows a feed, and a subgraph `shelf` that is not cached.

let shelf: RunningSubgraph;
let stars: RunningSubgraph;
let feed: StubFeed;
let issuer: TestIssuer;
let gateway: RunningGateway;
/** How many stars each book has. */
let ratings: Record<string, number>;
/** The books that only callers with a token see. */
let hidden: Set<string>;
/** Books whose stars are an error. */
let broken: Set<string>;
/** What `stars` says of its response; by default as a service of this platform. */
let says: ((body: RequestBody) => object | undefined) | undefined;
/** Resolves when `stars` may send its response. */
let released: Promise<unknown>;

interface RequestBody {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly extensions?: { readonly cacheMetadata?: boolean };
}

const starsOfAll = "{ books { isbn stars } }";

beforeAll(async () => {
  [shelf, stars, feed, issuer] = await Promise.all([startShelf(), startStars(), startStubFeed(), startTestIssuer()]);
});
afterAll(() => Promise.all([shelf.close(), stars.close(), feed.close(), issuer.stop()]));
beforeEach(async () => {
  ratings = { b1: 1, b2: 2, b3: 3 };
  [hidden, broken, says, released] = [new Set(), new Set(), undefined, Promise.resolve()];
  stars.fault = respondWithMetadata;
  gateway = await start();
});
afterEach(async () => {
  await gateway.drain();
  expect(stars.invalidDocuments).toEqual([]);
});

describe("what is shared", () => {
  test("an entity is fetched once for all callers, without credentials", async () => {
    const [ada, grace] = [await tokenOf("ada"), await tokenOf("grace")];
    for (const token of [ada, undefined, grace, ada]) expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(sent()).toEqual([["b1 b2 b3", "anonymous"]]);
    expect(stars.requests[0]?.body).toMatchObject({ extensions: { cacheMetadata: true } });
  });

  test("only the missing entities are fetched, also those of several fields in one request", async () => {
    await read("{ best { stars } }");
    expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
    expect(sent()).toEqual([
      ["b2", "anonymous"],
      ["b1 b3", "anonymous"],
    ]);
    await read("{ best { stars secretless } books { stars } }");
    const before = stars.requests.length;
    const both = "{ best { secretless } books { stars(plus: 1) } }";
    expect(await read(both)).toEqual({
      data: { best: { secretless: "b2" }, books: [{ stars: 2 }, { stars: 3 }, { stars: 4 }] },
    });
    await read(both);
    expect(stars.requests.length - before).toBeLessThanOrEqual(2);
  });

  test("results for other arguments, values of variables and fields are other results", async () => {
    const withPlus = "query ($plus: Int) { books { isbn stars(plus: $plus) } }";
    for (const plus of [1, 2, 1])
      expect(await read(withPlus, undefined, { plus })).toEqual(rated(1 + plus, 2 + plus, 3 + plus));
    expect(await read(withPlus)).toEqual(rated(1, 2, 3));
    expect(await read("{ books { isbn stars(plus: 1) } }")).toEqual(rated(2, 3, 4));
    expect(sent()).toHaveLength(4);
  });

  test("the data of a request for root fields is one result", async () => {
    const token = await tokenOf("ada");
    for (const caller of [token, undefined])
      expect(await read("{ greeting }", caller)).toEqual({ data: { greeting: "hello" } });
    expect(stars.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test("equal requests of different callers at once are sent once", async () => {
    const tokens = await Promise.all(["ada", "grace", "linus"].map(tokenOf));
    const release = hold();
    const reads = [...tokens, undefined].map((token) => read(starsOfAll, token));
    await expect.poll(() => shelf.requests.length).toBe(4);
    await wait(50);
    release();
    for (const result of await Promise.all(reads)) expect(result).toEqual(rated(1, 2, 3));
    expect(sent()).toEqual([["b1 b2 b3", "anonymous"]]);
  });

  test("a GET for caches has the groups of cached results, and their freshness from when the feed last confirmed them: now", async () => {
    await read(starsOfAll);
    says = () => ({ seconds: 60, groups: ["books"] });
    shelf.fault = respondWithMetadata;
    const response = await get(starsOfAll);
    shelf.fault = undefined;
    expect(response.headers.get("cdn-cache-control")).toBe("public, max-age=10");
    expect(response.headers.get("cache-groups")).toBe('"books", "stars:b1", "stars:b2", "stars:b3"');
  });
});

describe("what depends on the caller", () => {
  test("a null is fetched again with credentials, which later requests send at once, for this entity only", async () => {
    hidden.add("b2");
    const token = await tokenOf("ada");
    for (let i = 0; i < 3; i++) expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(await read(starsOfAll)).toEqual(rated(1, null, 3));
    expect(sent()).toEqual([
      ["b1 b2 b3", "anonymous"],
      ["b1 b2 b3", "ada"],
      ["b1 b3", "anonymous"],
      ["b2", "ada"],
      ["b2", "ada"],
      ["b2", "anonymous"],
    ]);
  });

  test("an entity becomes shared when it is for everyone", async () => {
    hidden.add("b2");
    const token = await tokenOf("ada");
    await read(starsOfAll, token);
    hidden.clear();
    await read(starsOfAll);
    const before = stars.requests.length;
    expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(stars.requests).toHaveLength(before);
  });

  test("an error is not stored, has the path of its entity, and is the caller's own", async () => {
    await read("{ best { stars } }");
    broken.add("b3");
    const error = { path: ["books", 2, "stars"], extensions: { code: "NOT_FOUND" } };
    const expected = { ...rated(1, 2, null), errors: [error] };
    expect(await read(starsOfAll)).toMatchObject(expected);
    const token = await tokenOf("ada");
    expect(await read(starsOfAll, token)).toMatchObject(expected);
    broken.clear();
    expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
  });

  test("a field of the caller is fetched for each caller, and stored for none", async () => {
    const query = "{ me best { secret } }";
    for (const name of ["ada", "grace", "ada"])
      expect(await read(query, await tokenOf(name))).toEqual({ data: { me: name, best: { secret: `b2 of ${name}` } } });
    expect(await read(query)).toEqual({ data: { me: null, best: { secret: "b2 of anonymous" } } });
    expect(gateway.cacheSizes().entities.entries).toBe(0);
  });

  test("a null root field is not stored, even if the subgraph says so", async () => {
    says = () => ({ seconds: 10, groups: [] });
    expect(await read("{ me }")).toEqual({ data: { me: null } });
    expect(await read("{ me }", await tokenOf("ada"))).toEqual({ data: { me: "ada" } });
  });

  test("another entity than the requested one is not stored", async () => {
    stars.fault = async (response, _body, _request, resolve) => {
      const isbns = ["b9", "b2", "b3"];
      const result = await resolve({ representations: isbns.map((isbn) => ({ __typename: "Book", isbn })) });
      const cache = { seconds: 10, groups: [], entities: { _entities: isbns.map(() => []) } };
      respondJson(response, 200, JSON.stringify({ ...result, extensions: { cache } }));
    };
    expect(await read(starsOfAll)).toMatchObject(rated(null, 2, 3));
    expect(gateway.cacheSizes().entities.entries).toBe(2);
    stars.fault = respondWithMetadata;
    expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
  });

  test("a list of another length than requested is no response, also beside cached entities", async () => {
    await read("{ best { stars } }");
    stars.fault = async (response, { variables }, _request, resolve) => {
      const [first] = variables["representations"] as readonly object[];
      respondJson(response, 200, JSON.stringify(await resolve({ representations: [first, first, first] })));
    };
    const { data, errors } = await read(starsOfAll);
    expect(data).toEqual(rated(null, null, null).data);
    expect(errors[0].extensions.code).toBe("SUBGRAPH_BAD_ANSWER");
  });

  test("a subgraph that fails gets no second request with credentials", async () => {
    stars.fault = (_, __, request) => request.socket.destroy();
    const { errors } = await read(starsOfAll, await tokenOf("ada"));
    expect(errors[0].extensions.code).toBe("SUBGRAPH_UNAVAILABLE");
    expect(stars.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  test("a rejection of requests without credentials leads to one with them", async () => {
    stars.fault = (response, body, request, resolve) =>
      request.headers.authorization === undefined
        ? respondJson(response, 401, "<html>")
        : respondWithMetadata(response, body, request, resolve);
    expect(await read(starsOfAll, await tokenOf("ada"))).toEqual(rated(1, 2, 3));
  });

  test("an invalid token is rejected although the result is cached", async () => {
    await read(starsOfAll);
    const { status } = await gateway.send(starsOfAll, { headers: { authorization: "Bearer x" } });
    expect(status).toBe(401);
  });

  test("without JWKS_URL, requests with a token bypass the cache", async () => {
    await restart({ JWKS_URL: "" });
    await read(starsOfAll);
    await read(starsOfAll, "unverified");
    expect(sent()).toEqual([
      ["b1 b2 b3", "anonymous"],
      ["b1 b2 b3", "unverified"],
    ]);
  });
});

describe("freshness", () => {
  test("a change of a group invalidates the entities in it, and no others", async () => {
    await fill();
    ratings["b2"] = 5;
    await change("stars:b2", "stars:b9");
    expect(await read(starsOfAll)).toEqual(rated(1, 5, 3));
    expect(sent()[1]).toEqual(["b2", "anonymous"]);
  });

  test("a reset of the feed invalidates everything of the service", async () => {
    await fill();
    ratings = { b1: 4, b2: 4, b3: 4 };
    feed.reset();
    await expect.poll(() => gateway.cacheSizes().entities.entries).toBe(0);
    expect(await read(starsOfAll)).toEqual(rated(4, 4, 4));
  });

  test.each([
    ["a change of its group", () => change("stars:b2"), 2],
    ["a reset", () => change("reset"), 0],
  ])(
    "a result whose request was sent before %s is not stored, and later requests do not wait for it",
    async (_, invalidate, stored) => {
      const release = hold();
      const early = read(starsOfAll);
      await expect.poll(() => stars.requests.length).toBe(1);
      await invalidate();
      ratings["b2"] = 5;
      released = Promise.resolve();
      expect(await read("{ best { isbn stars } }")).toEqual({ data: { best: { isbn: "b2", stars: 5 } } });
      await change("stars:b2");
      release();
      expect((await early).data.books).toHaveLength(3);
      expect(gateway.cacheSizes().entities.entries).toBe(stored);
      expect(await read(starsOfAll)).toEqual(rated(1, 5, 3));
    },
  );

  test("a read joins no equal read that was sent before a change", async () => {
    const release = hold();
    const early = read(starsOfAll);
    await expect.poll(() => stars.requests.length).toBe(1);
    ratings["b2"] = 5;
    await change("stars:b9");
    const late = read(starsOfAll);
    await expect.poll(() => stars.requests.length).toBe(2);
    release();
    expect([(await early).data, (await late).data]).toEqual([rated(1, 2, 3).data, rated(1, 5, 3).data]);
  });

  test("while the feed is down, results are used for two seconds", async () => {
    feed.goDown();
    await gateway.seen("feed-state", 2);
    await fill();
    expect(stars.requests).toHaveLength(1);
    await wait(2_050);
    await read(starsOfAll);
    expect(stars.requests).toHaveLength(2);
    feed.goUp();
    await gateway.seen("feed-state", 3);
    await read(starsOfAll);
    expect(stars.requests).toHaveLength(2);
  });

  test("reads within a mutation are sent, and are not stored", async () => {
    await read(starsOfAll);
    expect(await read("mutation { stock { isbn stars } }")).toEqual({ data: { stock: { isbn: "b1", stars: 1 } } });
    expect(sent().at(-1)).toEqual(["b1", "anonymous"]);
    expect(stars.requests.at(-1)?.body).not.toHaveProperty("extensions");
  });

  test("a read with a receipt uses no result from before its write", async () => {
    await fill();
    const write = feed.write();
    const receipt = createReceipts(["for-development-only"]).write([], [{ service: "stars", ...write }]);
    ratings["b1"] = 5;
    expect(await read(starsOfAll, undefined, {}, { "consistency-token": receipt })).toEqual(rated(5, 2, 3));
    // It was stored, without an invalidation.
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(stars.requests).toHaveLength(2);
    feed.change();
    expect(await read(starsOfAll, undefined, {}, { "consistency-token": receipt })).toEqual(rated(5, 2, 3));
    expect(stars.requests).toHaveLength(2);
  });

  test("a read uses no result from before a mutation of this process, without a receipt", async () => {
    await fill();
    await rate("b1", feed.write());
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    feed.change("stars:b1");
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    const count = stars.requests.length;
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(stars.requests).toHaveLength(count);
  });

  test("a mutation of this process without an epoch invalidates everything of the service", async () => {
    await fill();
    await rate("b1", { ...feed.write(), epoch: undefined });
    expect(gateway.cacheSizes().entities.entries).toBe(0);
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
    expect(sent().slice(2)).toEqual([["b1 b2 b3", "anonymous"]]);
  });

  test("a read with a receipt of another service uses the cache", async () => {
    await read(starsOfAll);
    const write = { service: "shelf", ...feed.write() };
    const receipt = createReceipts(["for-development-only"]).write([], [write]);
    await read(starsOfAll, undefined, {}, { "consistency-token": receipt });
    expect(stars.requests).toHaveLength(1);
  });
});

describe("configuration", () => {
  test("the cache is off by default", async () => {
    await restart({ ENTITY_CACHE_STARS: "" });
    for (let i = 0; i < 2; i++) expect(await read(starsOfAll, await tokenOf("ada"))).toEqual(rated(1, 2, 3));
    expect(sent()).toEqual([
      ["b1 b2 b3", "ada"],
      ["b1 b2 b3", "ada"],
    ]);
  });

  test("without a feed, only what Cache-Control permits is stored, until this process writes to the subgraph", async () => {
    await restart({ SUBGRAPH_FEED_URL_STARS: "none" });
    await read(starsOfAll);
    await read(starsOfAll);
    expect(stars.requests).toHaveLength(2);
    says = () => undefined;
    await read(starsOfAll);
    expect(gateway.cacheSizes().entities.entries).toBe(0);
    stars.fault = (response, ...rest) => {
      response.setHeader("cache-control", "public, max-age=60");
      return respondWithMetadata(response, ...rest);
    };
    for (const token of [undefined, await tokenOf("ada")])
      expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(stars.requests).toHaveLength(4);
    await read(`mutation { rate(isbn: "b1", stars: 5) { isbn } }`);
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
  });

  test("the stored results have a limit of bytes", async () => {
    await restart({ ENTITY_CACHE_BYTES_MAX: "100000" });
    for (let plus = 0; plus < 200; plus++)
      await read("query ($plus: Int) { books { stars(plus: $plus) } }", undefined, { plus });
    const { entries, weight } = gateway.cacheSizes().entities;
    expect(entries).toBeGreaterThan(50);
    expect(entries).toBeLessThan(250);
    expect(weight).toBeLessThanOrEqual(90_000);
    await gateway.seen("cache-evicted");
  });

  test("a variable that names no subgraph is reported", async () => {
    await restart({ ENTITY_CACHE_STRAS: "on" });
    await gateway.seen("override-without-subgraph");
  });

  test("lookups and repeats are reported", async () => {
    hidden.add("b2");
    await read(starsOfAll, await tokenOf("ada"));
    await read(starsOfAll, await tokenOf("ada"));
    const kinds = gateway.observations.filter(({ kind }) => kind.startsWith("entity-cache"));
    expect(kinds).toEqual([
      { kind: "entity-cache-read", service: "stars", results: { hit: 0, miss: 3, bypass: 0 } },
      { kind: "entity-cache-repeat", service: "stars" },
      { kind: "entity-cache-read", service: "stars", results: { hit: 0, miss: 2, bypass: 1 } },
    ]);
  });
});

async function start(environment: Record<string, string> = {}): Promise<RunningGateway> {
  stars.requests.length = shelf.requests.length = 0;
  const identity = { ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl };
  const cache = { ENTITY_CACHE_STARS: "on", SUBGRAPH_FEED_URL_STARS: feed.url };
  const started = await startGateway({
    supergraphSdl: composeSupergraph([shelf, stars]),
    environment: { ...identity, ...cache, ...environment },
  });
  const { ENTITY_CACHE_STARS, SUBGRAPH_FEED_URL_STARS } = { ...cache, ...environment };
  if (ENTITY_CACHE_STARS === "on" && SUBGRAPH_FEED_URL_STARS !== "none") await started.seen("feed-state");
  return started;
}

async function restart(environment: Record<string, string>): Promise<void> {
  await gateway.drain();
  gateway = await start(environment);
}

async function read(query: string, token?: string, variables: object = {}, headers: Record<string, string> = {}) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { body } = await gateway.send(query, { variables, headers: { ...headers, ...authorization } });
  return body;
}

/** By the hash of the document, which is registered before. */
async function get(document: string): Promise<Response> {
  const sha256Hash = createHash("sha256").update(document).digest("hex");
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  const body = JSON.stringify({ query: "{ books { isbn stars } }", extensions });
  await fetch(`${gateway.url}/graphql`, { method: "POST", headers: { "content-type": "application/json" }, body });
  return fetch(`${gateway.url}/graphql?${new URLSearchParams({ extensions: JSON.stringify(extensions) }).toString()}`);
}

function rated(...values: readonly (number | null)[]) {
  return { data: { books: values.map((value, i) => ({ isbn: `b${i + 1}`, stars: value })) } };
}

const userIds: Readonly<Record<string, string>> = { ada: "1", grace: "2", linus: "3" };

const tokenOf = (name: string) => issuer.token(userIds[name] ?? "");

/** The books and the caller of each request to `stars`. */
function sent(): readonly (readonly [string, string])[] {
  return stars.requests.map(({ body, headers }) => [
    isbnsOf(body as RequestBody).join(" "),
    callerOf(headers.authorization),
  ]);
}

function isbnsOf({ variables }: RequestBody): readonly string[] {
  return Object.values(variables ?? {}).flatMap((list) =>
    Array.isArray(list) ? list.map(({ isbn }) => isbn as string) : [],
  );
}

function callerOf(authorization: string | undefined): string {
  const [, payload] = authorization?.split(".") ?? [];
  if (authorization === undefined) return "anonymous";
  if (payload === undefined) return authorization.replace("Bearer ", "");
  const { sub } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { readonly sub: string };
  return Object.keys(userIds).find((name) => userIds[name] === sub) ?? "unknown";
}

/** The entities are stored by the first read, and composed to a whole result by the second one, which the third one gets. */
async function fill(): Promise<void> {
  for (let i = 0; i < 3; i++) expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
  expect(stars.requests).toHaveLength(1);
}

/** Gives a book five stars, by a mutation whose response has this position. */
async function rate(isbn: string, position: WritePosition): Promise<void> {
  stars.fault = (response, ...rest) => {
    response.setHeader(writePositionHeader, writeWritePosition(position));
    return respondWithMetadata(response, ...rest);
  };
  await read(`mutation { rate(isbn: "${isbn}", stars: 5) { isbn } }`);
  stars.fault = respondWithMetadata;
}

/** Sends changes, and waits until the gateway knows them. */
async function change(...groups: readonly string[]): Promise<void> {
  if (groups[0] === "reset") feed.reset();
  else feed.change(...groups);
  await wait(30);
}

/** Holds the responses of `stars` to requests from now on. */
function hold(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  released = promise;
  return resolve;
}

function respondWithMetadata(...[response, body, , resolve]: Parameters<Fault>): Promise<void> {
  return respond(response, body, resolve);
}

async function respond(
  response: Parameters<Fault>[0],
  body: RequestBody,
  resolve: Parameters<Fault>[3],
): Promise<void> {
  const mayRespond = released;
  const result = await resolve();
  const wants = body.extensions?.cacheMetadata === true;
  const cache = wants && !result.errors ? (says ?? sayAsPlatform)(body) : undefined;
  await mayRespond;
  respondJson(response, 200, JSON.stringify({ ...result, ...(cache && { extensions: { cache } }) }));
}

/** As a service of this platform: nothing if the identity was read. */
function sayAsPlatform(body: RequestBody): object | undefined {
  if (/secret\b|\bme\b/.test(body.query) || isbnsOf(body).some((isbn) => hidden.has(isbn))) return undefined;
  const lists = Object.entries(body.variables ?? {}).filter(([, list]) => Array.isArray(list));
  const entities = lists.map(([variable, list]) => [
    variable.replace("representations", "_entities"),
    (list as readonly { readonly isbn: string }[]).map(({ isbn }) => [`stars:${isbn}`]),
  ]);
  return { seconds: 10, groups: isbnsOf(body).map((isbn) => `stars:${isbn}`), entities: Object.fromEntries(entities) };
}

interface Context {
  readonly headers: { readonly authorization?: string };
}

function startShelf(): Promise<RunningSubgraph> {
  const books = ["b1", "b2", "b3"].map((isbn) => ({ isbn }));
  return startSubgraph({
    name: "shelf",
    typeDefs: `
      type Query { books: [Book] best: Book }
      type Mutation { stock: Book }
      type Book @key(fields: "isbn") { isbn: ID! }
    `,
    resolvers: { Query: { books: () => books, best: () => books[1] }, Mutation: { stock: () => books[0] } },
  });
}

function startStars(): Promise<RunningSubgraph> {
  const nameOf = ({ headers }: Context) => callerOf(headers.authorization);
  return startSubgraph({
    name: "stars",
    typeDefs: `
      type Query { greeting: String me: String }
      type Mutation { rate(isbn: ID!, stars: Int!): Book }
      type Book @key(fields: "isbn") { isbn: ID! stars(plus: Int): Int secret: String secretless: String }
    `,
    resolvers: {
      Query: {
        greeting: () => "hello",
        me: (_: unknown, __: unknown, context: Context) => (nameOf(context) === "anonymous" ? null : nameOf(context)),
      },
      Mutation: {
        rate: (_: unknown, rating: { isbn: string; stars: number }) => {
          ratings[rating.isbn] = rating.stars;
          return { isbn: rating.isbn };
        },
      },
      Book: {
        __resolveReference: ({ isbn }: { isbn: string }, context: Context) =>
          hidden.has(isbn) && nameOf(context) === "anonymous" ? null : { isbn },
        stars: ({ isbn }: { isbn: string }, { plus = 0 }: { plus?: number }) => {
          if (broken.has(isbn)) throw Object.assign(new Error("no stars"), { extensions: { code: "NOT_FOUND" } });
          return (ratings[isbn] ?? 0) + plus;
        },
        secret: ({ isbn }: { isbn: string }, _: unknown, context: Context) => `${isbn} of ${nameOf(context)}`,
        secretless: ({ isbn }: { isbn: string }) => isbn,
      },
    },
  });
}
