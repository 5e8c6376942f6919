import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { buildSchema } from "graphql";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type RunningGateway, startGateway } from "../../gateway/test/helpers/gateway.ts";
import { sampleSize } from "@tributary/kit/testing/sample-size";
import { startStubFeed, type StubFeed } from "@tributary/kit/testing/stub-feed";
import { generateQueries } from "./operations.ts";
import { toVariablePrefix } from "../../supergraph/services.ts";
import { gatewaySettingsFile, type Platform, type ServiceName, startPlatform } from "./platform.ts";

// The entity cache gives no caller what another caller may see, or misses what only the caller may see: every response is the one without the cache.

type Endpoint = "POST" | "GET";
type Callers = ReadonlyMap<string, string | undefined>;

const endpoints: readonly Endpoint[] = ["POST", "GET"];
/** Of the generated queries, all short ones and so many others: each further service leads to many more paths. */
const longQueriesMax = sampleSize(6, 33);

let platform: Platform;
let feed: StubFeed;
let callers: Callers;
let queries: readonly string[];

beforeAll(async () => {
  [platform, feed] = await Promise.all([startPlatform(inject("postgresUrl")), startStubFeed()]);
  const [ada, grace] = [await platform.tokenOf("1"), await platform.tokenOf("2")];
  const all = ["posts:read:all", "orders:read:all", "users:read:all", "posts:write:all"];
  callers = new Map([
    ["anonymous", undefined],
    ["ada", ada],
    ["grace", grace],
    ["ada without scopes", await platform.tokenOf("1", [])],
    ["operator", await platform.tokenOf("3", all)],
  ]);
  queries = sample(generateQueries(readSchema(), await findArguments(ada)));
});
afterAll(async () => {
  await Promise.all([platform.stop(), feed.close()]);
});

test("for every query, each caller gets its own response after any other caller, by POST and by GET", async () => {
  const gateways = await startPair();
  const { cells, differences } = await compareAll(queries, gateways);
  expect(differences).toEqual([]);
  expect(cells).toBeGreaterThanOrEqual(sampleSize(300, 1_000));
  // Without this, the cache could be off.
  expect(hitsOf(gateways.cached)).toBeGreaterThan(cells / 2);
  await gateways.drain();
});

test("a field that a service wrongly declares as the same for every caller is found", async () => {
  const users = await startFaultyUsers(platform.services.users.url);
  const gateways = await startPair({ SUBGRAPH_URL_USERS: `${users.url}/graphql` });
  const { differences } = await compareAll(
    [`{ user(id: "1") { id name } }`, `{ posts { nodes { author { name } } } }`],
    gateways,
  );
  expect(differences).toContainEqual(expect.stringMatching(/^POST \{ user.*: ada after anonymous$/));
  expect(differences).toContainEqual(expect.stringMatching(/^POST \{ posts.*: grace after ada$/));
  await gateways.drain();
  await users.close();
});

interface Gateways {
  readonly cached: RunningGateway;
  readonly uncached: RunningGateway;
  drain(): Promise<void>;
}

async function startPair(environment: Record<string, string> = {}): Promise<Gateways> {
  const supergraphSdl = readFileSync(new URL("../../supergraph/supergraph.graphql", import.meta.url), "utf8");
  const { issuer, services } = platform;
  const names = Object.keys(services) as readonly ServiceName[];
  const urls = names.map((name) => [`SUBGRAPH_URL_${toVariablePrefix(name)}`, `${services[name].url}/graphql`]);
  const caches = names.flatMap((name) => [
    [`ENTITY_CACHE_${toVariablePrefix(name)}`, "on"],
    [`SUBGRAPH_FEED_URL_${toVariablePrefix(name)}`, feed.url],
  ]);
  const identity = { ISSUER: issuer.issuer, AUDIENCE: issuer.audience, JWKS_URL: issuer.jwksUrl };
  const start = (variables: readonly (readonly string[])[]) =>
    startGateway({
      supergraphSdl,
      environment: {
        SETTINGS_FILE: gatewaySettingsFile,
        ...(Object.fromEntries(variables) as Record<string, string>),
        ...identity,
        ...environment,
      },
    });
  const [cached, uncached] = await Promise.all([start([...urls, ...caches]), start(urls)]);
  await cached.seen("feed-state", names.length);
  return { cached, uncached, drain: async () => void (await Promise.all([cached.drain(), uncached.drain()])) };
}

async function compareAll(documents: readonly string[], gateways: Gateways) {
  const cells: Cell[] = [];
  for (const document of documents)
    for (const endpoint of endpoints) cells.push(...(await compareCallers(gateways, endpoint, document)));
  const differences = cells.filter(({ isEqual }) => !isEqual).map(({ name }) => name);
  return { cells: cells.length, differences };
}

interface Cell {
  readonly name: string;
  /** Whether the response is the one without the cache. */
  readonly isEqual: boolean;
}

/** Each caller with an empty cache, and after it each caller. */
async function compareCallers({ cached, uncached }: Gateways, endpoint: Endpoint, document: string) {
  const expected = new Map<string, string>();
  for (const [name, token] of callers) expected.set(name, await send(uncached, endpoint, document, token));
  const cells: Cell[] = [];
  for (const [first, firstToken] of callers) {
    await empty(cached);
    await send(cached, endpoint, document, firstToken);
    for (const [name, token] of callers) {
      const isEqual = (await send(cached, endpoint, document, token)) === expected.get(name);
      cells.push({ name: `${endpoint} ${document}: ${name} after ${first}`, isEqual });
    }
  }
  return cells;
}

async function empty(gateway: RunningGateway): Promise<void> {
  if (gateway.cacheSizes().entities.entries === 0) return;
  feed.reset();
  while (gateway.cacheSizes().entities.entries > 0) await wait(1);
}

/** The parts of a response that must not depend on the cache, as text. */
async function send(gateway: RunningGateway, endpoint: Endpoint, document: string, token: string | undefined) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  if (endpoint === "POST") {
    const { status, text } = await gateway.send(document, { headers });
    return `${status} ${text}`;
  }
  const sha256Hash = createHash("sha256").update(document).digest("hex");
  const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash } });
  const url = `${gateway.url}/graphql?${new URLSearchParams({ extensions }).toString()}`;
  let response = await fetch(url, { headers });
  let text = await response.text();
  if (text.includes("PERSISTED_QUERY_NOT_FOUND")) {
    const body = JSON.stringify({ query: document, extensions: JSON.parse(extensions) as unknown });
    await fetch(`${gateway.url}/graphql`, { method: "POST", headers: { "content-type": "application/json" }, body });
    response = await fetch(url, { headers });
    text = await response.text();
  }
  const groups = (response.headers.get("cache-groups") ?? "").split(", ").toSorted().join(" ");
  const isStored = response.headers.get("cache-control") !== "no-store";
  return `${response.status} ${isStored ? `stored in ${groups}` : "not stored"} ${text}`;
}

function hitsOf({ observations }: RunningGateway): number {
  return observations.reduce((sum, o) => sum + (o.kind === "entity-cache-read" ? (o.results.hit ?? 0) : 0), 0);
}

function readSchema() {
  return buildSchema(readFileSync(new URL("../../supergraph/api.graphql", import.meta.url), "utf8"));
}

/** For each root field, arguments for rows of everyone, of one caller, and of no row. */
async function findArguments(ada: string) {
  const own = `{ published: posts { nodes { id } } drafts: posts(status: DRAFT) { nodes { id } } orders { nodes { id } } products { nodes { sku } } comments { nodes { id } } }`;
  const { body } = await platform.graphql(own, { token: ada });
  const firstOf = (field: string, key = "id") => String(body.data[field].nodes[0][key]);
  const withId = (...ids: readonly string[]) => ids.map((id) => `(id: "${id}")`);
  return {
    post: withId(firstOf("published"), firstOf("drafts"), "999999"),
    posts: ["(first: 4)", "(status: DRAFT, first: 4)"],
    user: withId("1", "2"),
    users: ["(first: 4)"],
    comment: withId(firstOf("comments")),
    comments: ["(first: 4)"],
    order: withId(firstOf("orders")),
    orders: ["(first: 3)"],
    product: [`(sku: "${firstOf("products", "sku")}")`],
    products: ["(first: 4)"],
  };
}

function sample(all: readonly string[]): readonly string[] {
  const isShort = (query: string) => (query.match(/\{/g) ?? []).length <= 2;
  const sampleEvery = Math.ceil(all.length / longQueriesMax);
  return all.filter((query, i) => isShort(query) || i % sampleEvery === 0);
}

/** The users service with a fault: a name depends on the caller, but its cache metadata says that every response is for everyone. */
async function startFaultyUsers(url: string) {
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await new Response(request).text();
    const { authorization } = request.headers;
    const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
    const result = await (await fetch(`${url}/graphql`, { method: "POST", headers, body })).text();
    const named = result.replaceAll(/"name":"([^"]+)"/g, `"name":"$1 for ${callerOf(authorization)}"`);
    response.writeHead(200, { "content-type": "application/json" }).end(named);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function callerOf(authorization: string | undefined): string {
  return createHash("sha256")
    .update(authorization ?? "")
    .digest("hex")
    .slice(0, 6);
}
