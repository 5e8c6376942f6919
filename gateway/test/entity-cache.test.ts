import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { GraphQLSchema } from "graphql";
import { afterEach, describe, expect, test, vi } from "vitest";
import { passTime } from "./helpers/clock.ts";
import { rated, setUpEntityCache, starsOfAll } from "./helpers/entity-caching.ts";
import { respondJson } from "./helpers/subgraphs.ts";

// Which results the entity cache shares between callers. Freshness and settings have separate test files.

const platform = setUpEntityCache();
const { books, read, restart, tokenOf } = platform;
afterEach(() => void vi.restoreAllMocks());

describe("what is shared", () => {
  test("an entity is fetched once for all callers, without credentials", async () => {
    const [ada, grace] = [await tokenOf("ada"), await tokenOf("grace")];
    for (const token of [ada, undefined, grace, ada]) expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(books.sent()).toEqual([["b1 b2 b3", "anonymous"]]);
    expect(books.stars.requests[0]?.body).toMatchObject({ extensions: { cacheMetadata: true } });
  });

  test("only the missing entities are fetched, also those of several fields in one request", async () => {
    await read("{ best { stars } }");
    expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
    expect(books.sent()).toEqual([
      ["b2", "anonymous"],
      ["b1 b3", "anonymous"],
    ]);
    await read("{ best { stars secretless } books { stars } }");
    const before = books.stars.requests.length;
    const both = "{ best { secretless } books { stars(plus: 1) } }";
    expect(await read(both)).toEqual({
      data: { best: { secretless: "b2" }, books: [{ stars: 2 }, { stars: 3 }, { stars: 4 }] },
    });
    await read(both);
    expect(books.stars.requests.length - before).toBeLessThanOrEqual(2);
  });

  test("results for other arguments, values of variables and fields are other results", async () => {
    const withPlus = "query ($plus: Int) { books { isbn stars(plus: $plus) } }";
    for (const plus of [1, 2, 1])
      expect(await read(withPlus, undefined, { plus })).toEqual(rated(1 + plus, 2 + plus, 3 + plus));
    expect(await read(withPlus)).toEqual(rated(1, 2, 3));
    expect(await read("{ books { isbn stars(plus: 1) } }")).toEqual(rated(2, 3, 4));
    expect(books.sent()).toHaveLength(4);
  });

  test("the data of a request for root fields is one result", async () => {
    const token = await tokenOf("ada");
    for (const caller of [token, undefined])
      expect(await read("{ greeting }", caller)).toEqual({ data: { greeting: "hello" } });
    expect(books.stars.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test("equal requests of different callers at once are sent once", async () => {
    const tokens = await Promise.all(["ada", "grace", "linus"].map(tokenOf));
    const release = books.hold();
    const reads = [...tokens, undefined].map((token) => read(starsOfAll, token));
    await expect.poll(() => books.shelf.requests.length).toBe(4);
    await wait(50);
    release();
    for (const result of await Promise.all(reads)) expect(result).toEqual(rated(1, 2, 3));
    expect(books.sent()).toEqual([["b1 b2 b3", "anonymous"]]);
  });

  test("a GET for caches has the groups of cached results, and their freshness from when the feed last confirmed them: now", async () => {
    await read(starsOfAll);
    books.metadataOf = () => ({ seconds: 60, groups: ["books"] });
    books.shelf.fault = books.respondWithMetadata;
    const response = await get(starsOfAll);
    books.shelf.fault = undefined;
    expect(response.headers.get("cdn-cache-control")).toBe("public, max-age=10");
    expect(response.headers.get("cache-groups")).toBe('"books", "stars:b1", "stars:b2", "stars:b3"');
  });
});

describe("what depends on the caller", () => {
  test("a null is fetched again with credentials, which later requests send at once, for this entity only", async () => {
    books.hidden.add("b2");
    const token = await tokenOf("ada");
    for (let i = 0; i < 3; i++) expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(await read(starsOfAll)).toEqual(rated(1, null, 3));
    expect(books.sent()).toEqual([
      ["b1 b2 b3", "anonymous"],
      ["b1 b2 b3", "ada"],
      ["b1 b3", "anonymous"],
      ["b2", "ada"],
      ["b2", "ada"],
      ["b2", "anonymous"],
    ]);
  });

  test("an entity becomes shared when it is for everyone", async () => {
    books.hidden.add("b2");
    const token = await tokenOf("ada");
    await read(starsOfAll, token);
    books.hidden.clear();
    await read(starsOfAll);
    const before = books.stars.requests.length;
    expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(books.stars.requests).toHaveLength(before);
  });

  test("the parts of a document that is rejected are fetched, stored and shared singly", async () => {
    books.stars.fault = (response, body, ...rest) => {
      if (!body.query.includes("secretless")) return books.respondWithMetadata(response, body, ...rest);
      return respondJson(response, 400, '{"errors":[{"message":"No field secretless."}]}');
    };
    const query = "{ best { secretless } books { isbn stars } }";
    const token = await tokenOf("ada");
    for (const caller of [token, undefined, token])
      expect(await read(query, caller)).toMatchObject({ data: { best: { secretless: null }, ...rated(1, 2, 3).data } });
    const single = books.stars.requests.filter(({ body }) => !body.query.includes("secretless"));
    expect(single.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    books.stars.requests.length = 0;
    books.stars.fault = books.respondWithMetadata;
    expect(await read(query)).toMatchObject({ data: { best: { secretless: "b2" }, ...rated(1, 2, 3).data } });
    expect(books.sent()).toEqual([["b2", "anonymous"]]);
  });

  test("an entity without the key that the gateway added is not stored: the key is checked again after a pause", async () => {
    const { observations } = platform.gateway;
    const { metadataOf } = books;
    books.metadataOf = (request) => ({ ...metadataOf(request), seconds: 600 });
    const stopped = () => observations.filter(({ kind }) => kind === "key-check-stopped");
    books.stars.fault = (response, body, request, resolve) =>
      books.respondWithMetadata(response, body, request, async () =>
        JSON.parse(JSON.stringify(await resolve()).replaceAll(/,"a_0_0_isbn":"b\d"/g, "")),
      );
    for (const _ of "12") expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
    expect(books.sent()).toHaveLength(2);
    books.stars.fault = books.respondWithMetadata;
    passTime(60_001);
    expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
    expect(books.stars.requests.at(-1)?.body.query).toContain("a_0_0_isbn");
    expect(stopped()).toHaveLength(1);
  });

  test("an error is not stored, has the path of its entity, and is the caller's own", async () => {
    await read("{ best { stars } }");
    books.broken.add("b3");
    const error = { path: ["books", 2, "stars"], extensions: { code: "NOT_FOUND" } };
    const expected = { ...rated(1, 2, null), errors: [error] };
    expect(await read(starsOfAll)).toMatchObject(expected);
    const token = await tokenOf("ada");
    expect(await read(starsOfAll, token)).toMatchObject(expected);
    books.broken.clear();
    expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
  });

  test("a field of the caller is fetched for each caller, and stored for none", async () => {
    const query = "{ me best { secret } }";
    for (const name of ["ada", "grace", "ada"])
      expect(await read(query, await tokenOf(name))).toEqual({ data: { me: name, best: { secret: `b2 of ${name}` } } });
    expect(await read(query)).toEqual({ data: { me: null, best: { secret: "b2 of anonymous" } } });
    expect(platform.gateway.cacheSizes().entities.entries).toBe(0);
  });

  test("a null root field is not stored, even if the subgraph says so", async () => {
    books.metadataOf = () => ({ seconds: 10, groups: [] });
    expect(await read("{ me }")).toEqual({ data: { me: null } });
    expect(await read("{ me }", await tokenOf("ada"))).toEqual({ data: { me: "ada" } });
  });

  test("another entity than the requested one is not stored", async () => {
    books.stars.fault = async (response, _body, _request, resolve) => {
      const isbns = ["b9", "b2", "b3"];
      const result = await resolve({ representations: isbns.map((isbn) => ({ __typename: "Book", isbn })) });
      const cache = { seconds: 10, groups: [], entities: { _entities: isbns.map(() => []) } };
      respondJson(response, 200, JSON.stringify({ ...result, extensions: { cache } }));
    };
    expect(await read(starsOfAll)).toMatchObject(rated(null, 2, 3));
    expect(platform.gateway.cacheSizes().entities.entries).toBe(2);
    books.stars.fault = books.respondWithMetadata;
    expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
  });

  test("a list of another length than requested is no response, also beside cached entities", async () => {
    await read("{ best { stars } }");
    books.stars.fault = async (response, { variables }, _request, resolve) => {
      const [first] = variables["representations"] as readonly object[];
      respondJson(response, 200, JSON.stringify(await resolve({ representations: [first, first, first] })));
    };
    const { data, errors } = await read(starsOfAll);
    expect(data).toEqual(rated(null, null, null).data);
    expect(errors[0].extensions.code).toBe("SUBGRAPH_INVALID_RESPONSE");
  });

  test.each([
    ["closes the connection", (_: ServerResponse, __: unknown, request: IncomingMessage) => request.socket.destroy()],
    ["is overloaded", (response: ServerResponse) => respondJson(response, 503, "{}")],
    ["is down behind its proxy", (response: ServerResponse) => respondJson(response, 502, "<html>")],
  ])("a subgraph that %s gets no second request with credentials", async (_, fault) => {
    books.stars.fault = fault;
    const { errors } = await read(starsOfAll, await tokenOf("ada"));
    expect(errors[0].extensions.code).toBe("SUBGRAPH_UNAVAILABLE");
    expect(books.stars.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  test("a rejection of requests without credentials leads to one with them", async () => {
    books.stars.fault = (response, body, request, resolve) =>
      request.headers.authorization === undefined
        ? respondJson(response, 401, "<html>")
        : books.respondWithMetadata(response, body, request, resolve);
    expect(await read(starsOfAll, await tokenOf("ada"))).toEqual(rated(1, 2, 3));
  });

  test("an invalid token is rejected although the result is cached", async () => {
    await read(starsOfAll);
    const { status } = await platform.gateway.send(starsOfAll, { headers: { authorization: "Bearer x" } });
    expect(status).toBe(401);
  });

  test("without JWKS_URL, requests with a token bypass the cache", async () => {
    await restart({ JWKS_URL: "" });
    await read(starsOfAll);
    await read(starsOfAll, "unverified");
    expect(books.sent()).toEqual([
      ["b1 b2 b3", "anonymous"],
      ["b1 b2 b3", "unverified"],
    ]);
  });
});

/** A GET of a document by its hash, after its registration. */
async function get(document: string): Promise<Response> {
  const url = `${platform.gateway.url}/graphql`;
  const sha256Hash = createHash("sha256").update(document).digest("hex");
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  const body = JSON.stringify({ query: document, extensions });
  await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return fetch(`${url}?${new URLSearchParams({ extensions: JSON.stringify(extensions) }).toString()}`);
}

test("a replaced supergraph is not retained by whole results of the cache", async () => {
  await restart({ ENTITY_CACHE_STARS: "on" });
  const { gateway } = platform;
  const sdl = readFileSync(gateway.file, "utf8");
  const swap = async (count: number) => {
    // Until values are memoized on its result.
    for (let i = 0; i < 15; i++) {
      await read(`{ a${count}: greeting }`);
      await wait(20);
    }
    writeFileSync(`${gateway.file}.new`, `${sdl}\n# ${count}\n`);
    renameSync(`${gateway.file}.new`, gateway.file);
    await gateway.seen("supergraph-loaded", count + 2);
  };
  await swap(0);
  const countSchemas = () => queryObjects(GraphQLSchema, { format: "count" });
  await expect.poll(countSchemas, { timeout: 60_000 }).toBeLessThanOrEqual(4);
  for (let count = 1; count <= 4; count++) await swap(count);
  await expect.poll(countSchemas, { timeout: 60_000 }).toBeLessThanOrEqual(4);
}, 180_000);
