// nginx and Varnish in front of the platform, configured as docs/cdn.md describes, and clients with their defaults.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { ApolloClient, gql, HttpLink, InMemoryCache } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { pickFreePort } from "../../kit/src/process/free-port.ts";
import { endpointKeys, startProcess } from "../../scripts/verify/platform/part-process.ts";
import { findCacheProgram, type HttpCache, startNginx, startVarnish } from "./http-caches.ts";
import { type Platform, startPlatform } from "./platform.ts";

const programs = [
  // nginx compresses the short body, and Varnish decompresses the long one for a client that does not accept gzip.
  { name: "nginx", program: findCacheProgram("nginx"), start: startNginx, codingOfWeakTag: "gzip" },
  { name: "Varnish", program: findCacheProgram("varnishd"), start: startVarnish, codingOfWeakTag: "identity" },
] as const;

/** Of a CDN and of an analytics script. */
const foreignCookie = "__cf_bm=1; _ga=2";

let platform: Platform;
beforeAll(async () => {
  const variables = { CORS_ORIGINS: "*", CDN_TAG_HEADER: "Surrogate-Key" };
  platform = await startPlatform(inject("postgresUrl"), undefined, {}, variables);
});
afterAll(() => platform.stop());

describe.each(programs)("$name", ({ name, program, start, codingOfWeakTag }) => {
  test.runIf(program === undefined)(`skipped: install Debian's ${name} to run these tests`, () => {});

  describe.skipIf(program === undefined)("in front of the platform", () => {
    let cache: HttpCache;
    beforeAll(async () => void (cache = await start(program ?? "", platform)));
    afterAll(() => cache.stop());

    test.each([undefined, foreignCookie])(
      "has Apollo Client's second request by hash, with the cookie %s",
      async (cookie) => {
        const outcomes: unknown[] = [];
        const client = createApolloClient(cache.url, cookie, (response) => outcomes.push(outcomeOf(response.headers)));
        const query = gql`
          query UserPage($id: ID!) {
            user(id: $id) {
              id
              name
            }
          }
        `;
        await expect
          .poll(async () => {
            const { data } = await client.query({ query, variables: { id: "2" }, fetchPolicy: "network-only" });
            expect(data).toMatchObject({ user: { id: "2" } });
            return outcomes.at(-1);
          })
          .toBe("hit");
        client.stop();
      },
    );

    test.each([
      ["REST", "/v2/posts/1"],
      ["GraphQL", hashPath],
    ])("with CORS_ORIGINS=*, a page may read a response of %s that was stored for a program", async (_, path) => {
      await register(cache.url);
      const headers = { origin: "https://page.example", cookie: foreignCookie };
      const before = () => send(cache.url + path, { headers: { cookie: foreignCookie } });
      const read = await untilHit(cache.url + path, headers, before);
      expect(read.cors).toBe("*");
    });

    test.each([
      ["gzip", "Short."],
      ["identity", "Long enough for compression. ".repeat(100)],
    ])("a change succeeds with the ETag that the cache sends for %s", async (coding, text) => {
      const token = await platform.tokenOf("1");
      const created = await platform.rest("POST", "/v1/posts", { token, body: { title: "Post", body: text } });
      const path = `/v1/posts/${created.body.id}`;
      const publish = { token, body: { published: true }, headers: { "if-match": "*" } };
      expect((await platform.rest("PATCH", path, publish)).status).toBe(200);
      const { etag } = await untilHit(cache.url + path, { "accept-encoding": coding });
      const change = {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/merge-patch+json",
          "if-match": etag,
        },
        body: JSON.stringify({ title: "Changed" }),
      } as const;
      expect(etag.startsWith("W/")).toBe(coding === codingOfWeakTag);
      expect((await send(cache.url + path, change)).status).toBe(200);
      expect((await send(cache.url + path, change)).status).toBe(412);
    });
  });
});

describe.each(programs)("$name", ({ program, start }) => {
  test.skipIf(program === undefined)("sends documents by their ids to the gateway, and similar paths not", async () => {
    const [gatewayUrl, proxyUrl] = [await startEcho("gateway"), await startEcho("REST")];
    const cache = await start(program ?? "", { gatewayUrl, proxyUrl });
    onTestFinished(() => cache.stop());
    const paths = ["/graphql", "/graphql?a=1", "/graphql/a1?variables={}", "/graphql/a%2Fb", "/graphqlx", "/v2/users"];
    const received = await Promise.all(paths.map(async (path) => (await fetch(cache.url + path)).text()));
    const ends = ["gateway", "gateway", "gateway", "gateway", "REST", "REST"];
    expect(received).toEqual(paths.map((path, i) => `${ends[i]} ${path}`));
  });

  test.skipIf(program === undefined)("sends a stored response without the rate limit of another client", async () => {
    const url = await startServer((_, response) => {
      const headers = {
        "cache-control": "public, s-maxage=10",
        ratelimit: '"reads";r=9',
        "ratelimit-policy": '"reads"',
      };
      response.writeHead(200, headers).end();
    });
    const cache = await start(program ?? "", { gatewayUrl: url, proxyUrl: url });
    onTestFinished(() => cache.stop());
    const read = async (headers: Record<string, string>) => (await fetch(`${cache.url}/v2/users`, { headers })).headers;
    const ofOwnRequest = await read({ authorization: "Bearer token" });
    expect([ofOwnRequest.get("ratelimit"), ofOwnRequest.get("ratelimit-policy")]).toEqual(['"reads";r=9', '"reads"']);
    let stored = await read({});
    await expect.poll(async () => outcomeOf((stored = await read({})))).toBe("hit");
    expect([stored.get("ratelimit"), stored.get("ratelimit-policy")]).toEqual([null, null]);
  });

  test.skipIf(program === undefined)("sends equal requests at once, if their responses may not be stored", async () => {
    const url = await startServer((_, response) => {
      setTimeout(() => response.writeHead(200, { "cache-control": "no-store" }).end(), 20);
    });
    const cache = await start(program ?? "", { gatewayUrl: url, proxyUrl: url });
    onTestFinished(() => cache.stop());
    const startMs = performance.now();
    await Promise.all(Array.from({ length: 10 }, () => fetch(`${cache.url}/v2/users`)));
    // One after the other, every half second, they would take longer than 4 s.
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
});

/** A server that responds with its name and the request's target. Stopped after the test. */
function startEcho(name: string): Promise<string> {
  return startServer((request, response) => response.end(`${name} ${request.url}`));
}

async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const [, { program: varnish }] = programs;
test.skipIf(varnish === undefined)(
  "Varnish drops the responses with a purged tag, if the purge has the token",
  async () => {
    const cache = await startVarnish(varnish ?? "", platform, "token");
    onTestFinished(() => cache.stop());
    await register(cache.url);
    const paths = ["/v2/users/3", hashPath];
    const outcomes = () => Promise.all(paths.map(async (path) => (await send(cache.url + path, {})).outcome));
    const purge = (token: string) => {
      const headers = { "xkey-purge": "service:users", authorization: `Bearer ${token}` };
      return send(cache.url, { method: "PURGE", headers });
    };
    for (const path of paths) await untilHit(cache.url + path, {});
    expect((await purge("another")).status).toBe(401);
    expect(await outcomes()).toEqual(["hit", "hit"]);
    expect((await purge("token")).status).toBe(200);
    expect(await outcomes()).toEqual(["miss", "miss"]);
  },
);

test.skipIf(varnish === undefined)(
  "behind Varnish, the purger removes what a write changed, and nothing else",
  async () => {
    const cache = await startVarnish(varnish ?? "", platform, "token");
    onTestFinished(() => cache.stop());
    const countPurges = await startPurger(cache.url);
    await expect.poll(countPurges).toBe(startPurges);
    await register(cache.url);
    const changed = ["/v2/users/3", hashPath];
    // The first one stored, which therefore expires first.
    const paths = ["/v2/users/4", ...changed];
    const token = await platform.tokenOf("3");
    let writes = 0;
    const readMissesAfterWrite = async () => {
      for (const path of paths) await untilHit(cache.url + path, {});
      const write = { token, body: { name: `Name ${++writes}` }, headers: { "if-match": "*" } };
      expect((await platform.rest("PATCH", "/v2/users/3", write)).status).toBe(200);
      const missed = new Set<string>();
      while (changed.some((path) => !missed.has(path)))
        for (const path of paths) if ((await send(cache.url + path, {})).outcome === "miss") missed.add(path);
      return paths.filter((path) => missed.has(path));
    };
    // Repeated, since all responses expire if the machine is so busy that an attempt takes 10 s.
    await expect.poll(readMissesAfterWrite).toEqual(changed);
  },
);

/** The purger purges a whole service twice when it starts to follow its feed. */
const startPurges = 2;

/**
 * Starts the purger, and a second replica of the users service for its feed.
 * @returns the number of purges that the cache has accepted.
 */
async function startPurger(cacheUrl: string): Promise<() => Promise<number>> {
  const { issuer, services } = platform;
  const onCleanup = (cleanUp: () => unknown) => onTestFinished(() => void cleanUp());
  const start = async (folder: "services/users" | "infra/purger", variables: Readonly<Record<string, string>>) => {
    const port = await pickFreePort();
    const environment = { ...variables, PORT: String(port), FEED_KEYS: endpointKeys.FEED_KEYS };
    await startProcess(folder, `http://127.0.0.1:${port}`, { environment, onCleanup });
  };
  const [feedPort, adminPort] = [String(await pickFreePort()), String(await pickFreePort())];
  const identity = { ISSUER: issuer.issuer, JWKS_URL: issuer.jwksUrl };
  await start("services/users", { ...identity, DATABASE_URL: services.users.database.url, FEED_PORT: feedPort });
  const feed = { SERVICES: "users", USERS_FEED_URL: `http://127.0.0.1:${feedPort}` };
  await start("infra/purger", { ...feed, PURGE_URL: `${cacheUrl}/`, PURGE_TOKEN: "token", ADMIN_PORT: adminPort });
  return async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return Number(/^tributary_purger_requests_total\{.*result="ok".*\} (\d+)$/m.exec(metrics)?.[1]);
  };
}

const hashedQuery = `{ user(id: "3") { id name } }`;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(hashedQuery) } };
const hashPath = `/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;

async function register(url: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ query: hashedQuery, extensions });
  expect((await send(`${url}/graphql`, { method: "POST", headers, body })).status).toBe(200);
}

async function send(url: string, options: RequestInit) {
  const { status, headers, body } = await fetch(url, options);
  await body?.cancel();
  return {
    status,
    etag: headers.get("etag") ?? "",
    cors: headers.get("access-control-allow-origin"),
    outcome: outcomeOf(headers),
  };
}

/** nginx stores responses for a second only. @param before sends the request whose response the cache stores, by default an equal one. */
async function untilHit(url: string, headers: Record<string, string>, before = () => send(url, { headers })) {
  let response = await before();
  await expect
    .poll(async () => {
      await before();
      response = await send(url, { headers });
      return response.outcome;
    })
    .toBe("hit");
  return response;
}

function createApolloClient(url: string, cookie: string | undefined, onResponse: (response: Response) => void) {
  const link = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
  const http = new HttpLink({
    uri: `${url}/graphql`,
    ...(cookie && { headers: { cookie } }),
    async fetch(...input) {
      const response = await fetch(...input);
      onResponse(response);
      return response;
    },
  });
  return new ApolloClient({ cache: new InMemoryCache(), link: link.concat(http) });
}

function outcomeOf(headers: Headers): string | undefined {
  return headers.get("x-cache")?.toLowerCase();
}
