import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, request as sendHttp } from "node:http";
import { json } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { rated, setUpEntityCache, starsOfAll } from "./helpers/entity-caching.ts";
import { startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, type Fault, respondJson, startSubgraph } from "./helpers/subgraphs.ts";

// The environment variables of the entity cache, and its observations.

const platform = setUpEntityCache();
const { books, read, restart, tokenOf } = platform;

describe("configuration", () => {
  test("the cache is off by default", async () => {
    await restart({ ENTITY_CACHE_STARS: "" });
    for (let i = 0; i < 2; i++) expect(await read(starsOfAll, await tokenOf("ada"))).toEqual(rated(1, 2, 3));
    expect(books.sent()).toEqual([
      ["b1 b2 b3", "ada"],
      ["b1 b2 b3", "ada"],
    ]);
  });

  test("without a feed, only what Cache-Control permits is stored, until this process writes to the subgraph", async () => {
    await restart({ SUBGRAPH_FEED_URL_STARS: "none" });
    await read(starsOfAll);
    await read(starsOfAll);
    expect(books.stars.requests).toHaveLength(2);
    books.metadataOf = () => undefined;
    await read(starsOfAll);
    expect(platform.gateway.cacheSizes().entities.entries).toBe(0);
    books.stars.fault = (response, ...rest) => {
      response.setHeader("cache-control", "public, max-age=60");
      return books.respondWithMetadata(response, ...rest);
    };
    for (const token of [undefined, await tokenOf("ada")])
      expect(await read(starsOfAll, token)).toEqual(rated(1, 2, 3));
    expect(books.stars.requests).toHaveLength(4);
    await read(`mutation { rate(isbn: "b1", stars: 5) { isbn } }`);
    expect(await read(starsOfAll)).toEqual(rated(5, 2, 3));
  });

  test.each([{ vary: "Accept-Encoding, Authorization" }, { vary: ["Origin", "cookie"] }, { vary: "*" }, { age: "60" }])(
    "without a feed, a response with %j is not stored",
    async (headers) => {
      await restart({ SUBGRAPH_FEED_URL_STARS: "none" });
      books.metadataOf = () => undefined;
      books.stars.fault = (response, ...rest) => {
        response.setHeader("cache-control", "public, max-age=60");
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        return books.respondWithMetadata(response, ...rest);
      };
      for (let i = 0; i < 2; i++) expect(await read(starsOfAll)).toEqual(rated(1, 2, 3));
      expect(books.stars.requests).toHaveLength(2);
    },
  );

  test("the stored results have a limit of bytes", async () => {
    await restart({ ENTITY_CACHE_BYTES_MAX: "100000" });
    for (let plus = 0; plus < 200; plus++)
      await read("query ($plus: Int) { books { stars(plus: $plus) } }", undefined, { plus });
    const { entries, weight } = platform.gateway.cacheSizes().entities;
    expect(entries).toBeGreaterThan(50);
    expect(entries).toBeLessThan(250);
    expect(weight).toBeLessThanOrEqual(90_000);
    await platform.gateway.seen("cache-evicted");
  });

  test("a variable that names no subgraph is reported", async () => {
    await restart({ ENTITY_CACHE_STRAS: "on" });
    await platform.gateway.seen("variable-without-subgraph");
  });

  test("lookups and repeats are reported", async () => {
    books.hidden.add("b2");
    await read(starsOfAll, await tokenOf("ada"));
    await read(starsOfAll, await tokenOf("ada"));
    const kinds = platform.gateway.observations.filter(({ kind }) => kind.startsWith("entity-cache"));
    expect(kinds).toEqual([
      { kind: "entity-cache-read", service: "stars", results: { hit: 0, miss: 3, bypass: 0 } },
      { kind: "entity-cache-repeat", service: "stars" },
      { kind: "entity-cache-read", service: "stars", results: { hit: 0, miss: 2, bypass: 1 } },
    ]);
  });
});

const query = '{ one(name: "x-tenant") }';
const insert = (tenant: string) =>
  `headers: { all: { request: [{ insert: { name: x-tenant, value: ${tenant} } }] } }\n`;
const respondCacheable: Fault = async (response, _body, _request, resolve) =>
  respondJson(response, 200, JSON.stringify(await resolve()), { "cache-control": "public, max-age=60" });

async function startTenantA() {
  const echo = await startEchoPlatform(insert("a"), { ENTITY_CACHE_FIRST: "on", SUBGRAPH_FEED_URL_FIRST: "none" });
  echo.first.fault = respondCacheable;
  return { ...echo, readTenant: async () => (await echo.gateway.send(query)).body.data.one };
}

test("a change of a subgraph's settings invalidates what was stored with the former ones", async () => {
  const { first, readTenant, writeSettings } = await startTenantA();
  expect([await readTenant(), await readTenant(), first.requests.length]).toEqual(["a", "a", 1]);
  writeSettings(insert("b"));
  await expect.poll(readTenant, { timeout: 10_000 }).toBe("b");
  expect([await readTenant(), first.requests.length]).toEqual(["b", 2]);
});

test("a request that arrived before a change of the settings stores nothing after it", async () => {
  const { gateway, readTenant, writeSettings } = await startTenantA();
  const body = JSON.stringify({ query });
  const headers = { "content-type": "application/json", "content-length": body.length, expect: "100-continue" };
  const request = sendHttp(`${gateway.url}/graphql`, { method: "POST", headers });
  request.flushHeaders();
  await once(request, "continue");
  writeSettings(insert("b"));
  await gateway.seen("settings-loaded");
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  expect(await json(response)).toEqual({ data: { one: "a" } });
  expect(await readTenant()).toBe("b");
});

test("a supergraph with another URL of a subgraph invalidates what was stored of the former one", async () => {
  const [former, next] = await Promise.all(
    ["former", "next"].map((name) => {
      const typeDefs = "type Query { name: String }";
      return startSubgraph({ name: "people", typeDefs, resolvers: { Query: { name: () => name } } });
    }),
  );
  const gateway = await startGateway({
    supergraphSdl: composeSupergraph([former!]),
    environment: { ENTITY_CACHE_PEOPLE: "on", SUBGRAPH_FEED_URL_PEOPLE: "none" },
  });
  onTestFinished(async () => void (await Promise.all([gateway.drain(), former!.close(), next!.close()])));
  former!.fault = next!.fault = respondCacheable;
  const readName = async () => (await gateway.send("{ name }")).body.data.name;
  expect([await readName(), await readName(), former!.requests.length]).toEqual(["former", "former", 1]);
  writeFileSync(gateway.file, composeSupergraph([next!]));
  await gateway.seen("supergraph-loaded", 2);
  expect(await readName()).toBe("next");
});
