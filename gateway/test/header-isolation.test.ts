import { sampleSize } from "@tributary/kit/testing/sample-size";
import { createHash } from "node:crypto";
import { startStubFeed } from "@tributary/kit/testing/stub-feed";
import { expect, onTestFinished, test } from "vitest";
import { startEchoPlatform } from "./helpers/echo-platform.ts";
import { respondJson } from "./helpers/subgraphs.ts";

const requestsCount = sampleSize(2_000, 100_000);
const inFlight = 50;

/** Equal queries, with and without the forwarded header; `two` does not depend on it. */
const queries = [
  '{ one(name: "x-tenant") }',
  '{ two(name: "x-other") }',
  '{ one(name: "x-tenant") two(name: "x-other") }',
];
const tenants = ["a", "b", "c", "", undefined];

test("no client gets what another client's header caused: with sharing, the entity cache, and a shared cache in front", async () => {
  const feed = await startStubFeed();
  onTestFinished(() => feed.close());
  const platform = await startEchoPlatform(
    `
headers: { subgraphs: { first: { request: [{ propagate: { named: x-tenant } }], response: [{ propagate: { named: x-echo } }] } } }
`,
    {
      ENTITY_CACHE_FIRST: "on",
      ENTITY_CACHE_SECOND_ONE: "on",
      SUBGRAPH_FEED_URL_FIRST: feed.url,
      SUBGRAPH_FEED_URL_SECOND_ONE: feed.url,
    },
  );
  const { gateway, first, second } = platform;
  // Both claim that their results are for all callers.
  for (const subgraph of [first, second])
    subgraph.fault = async (response, _body, request, resolve) => {
      const extensions = { cache: { seconds: 60, groups: ["a"] } };
      respondJson(response, 200, JSON.stringify({ ...(await resolve()), extensions }), {
        "x-echo": String(request.headers["x-tenant"] ?? "none"),
      });
    };
  const cache = createSharedCache();
  const register = queries.map((query) =>
    fetch(`${gateway.url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, extensions: extensionsOf(query) }),
    }),
  );
  await Promise.all(register);
  first.requests.length = second.requests.length = 0;

  let seed = 7;
  const random = (count: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % count;
  };
  const foreign: string[] = [];
  let sent = 0;
  const client = async () => {
    while (sent < requestsCount) {
      sent++;
      const tenant = tenants[random(tenants.length)];
      const query = queries[random(queries.length)] ?? "";
      const headers = tenant === undefined ? {} : { "x-tenant": tenant };
      const isGet = random(2) === 0;
      const { body, echo } = isGet ? await cache.get(urlOf(gateway.url, query), headers) : await post(query, headers);
      const { one, two } = (JSON.parse(body) as { data: { one?: string | null; two?: string | null } }).data;
      if (query.includes("one") && one !== (tenant ?? null)) foreign.push(`${String(tenant)}: ${body}`);
      if (query.includes("two") && two !== null) foreign.push(`two: ${body}`);
      if (echo !== null && echo !== (tenant ?? "none")) foreign.push(`${String(tenant)} got the header of ${echo}`);
    }
  };
  const post = async (query: string, headers: Record<string, string>) => {
    const { text, headers: received } = await gateway.send(query, { headers });
    return { body: text, echo: received.get("x-echo") };
  };
  await Promise.all(Array.from({ length: inFlight }, client));
  expect(foreign).toEqual([]);
  // The caches did work.
  expect(cache.hits).toBeGreaterThan(0);
  expect(second.requests.length).toBeLessThan(requestsCount / 10);
  expect(first.requests.length).toBeLessThan(requestsCount);
});

function extensionsOf(query: string) {
  return { persistedQuery: { version: 1, sha256Hash: createHash("sha256").update(query).digest("hex") } };
}

function urlOf(url: string, query: string): string {
  return `${url}/graphql?extensions=${encodeURIComponent(JSON.stringify(extensionsOf(query)))}`;
}

/** Stores by URL whatever a shared cache may store (RFC 9111, 3). */
function createSharedCache() {
  const stored = new Map<string, string>();
  let hits = 0;
  return {
    get hits() {
      return hits;
    },
    async get(url: string, headers: Record<string, string>) {
      const hit = stored.get(url);
      if (hit !== undefined) {
        hits++;
        return { body: hit, echo: null };
      }
      const response = await fetch(url, { headers });
      const body = await response.text();
      if (/(^|, )public/.test(response.headers.get("cache-control") ?? "")) {
        expect(response.headers.get("x-echo")).toBeNull();
        stored.set(url, body);
      }
      return { body, echo: response.headers.get("x-echo") };
    },
  };
}
