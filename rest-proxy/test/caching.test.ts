import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  openConnection,
  plainCallerConfig,
  type ProxySettings,
  route,
  sendRaw,
  startProxy,
  startStub,
  statusOf,
} from "./testing.ts";

const v2 = "application/vnd.tributary.v2+json";
const fresh = "public, max-age=60";
const long = JSON.stringify({ text: "long ".repeat(1_000) });

const routes = [
  route("getNew", "GET", "/news/:id", { versions: [1, 2], query: ["a", "b"], cache: "public" }),
  route("changeNew", "PATCH", "/news/:id", { versions: [1, 2] }),
  route("listNews", "GET", "/news", { versions: [1, 2], cache: "public" }),
  route("addNews", "POST", "/news", { versions: [1, 2] }),
];

/** A proxy whose service sends cacheable responses with an ETag and counts its reads. */
async function setUp(settings: ProxySettings = {}, body = '{"ok":true}') {
  const stub = await startStub((request, response) => {
    response.setHeader("Cache-Control", fresh).setHeader("ETag", '"7"');
    response.setHeader("Date", new Date(settings.nowMs?.() ?? Date.now()).toUTCString());
    if (request.headers["if-none-match"] === '"7"') return void response.writeHead(304).end();
    response.setHeader("Content-Length", Buffer.byteLength(body));
    response.end(request.method === "HEAD" ? undefined : body);
  });
  const proxy = await startProxy(stub, { routes, corsOrigins: [], ...settings });
  // `fetch` adds `Cache-Control: no-cache` to a conditional request that has no `Cache-Control` (Fetch, HTTP-network-or-cache fetch).
  const defaults = { "accept-encoding": "identity", "cache-control": "max-age=60" };
  const send = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    fetch(`${proxy.url}${path}`, { method, headers: { ...defaults, ...headers } });
  const cacheStatusOf = async (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
    (await send(path, headers, method)).headers.get("cache-status")?.replace(/ttl=\d+/, "ttl=…");
  return { stub, proxy, send, cacheStatusOf };
}

const hit = "tributary; hit; ttl=…";

test("all spellings of Accept, path and query share one cache entry", async () => {
  const { send, stub } = await setUp();
  await send("/v2/news/7?a=1&b=x+y");
  for (let i = 0; i < 50; i++) {
    const response = await send("/news/7?b=x%20y&a=%31", { accept: `${v2};a=${i};q=0.${i + 1}, text/${i}` });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, v2]);
    await response.arrayBuffer();
  }
  expect(stub.received.map(({ url }) => url)).toEqual(["/rest/v2/news/7?a=1&b=x%20y"]);
});

const kept = [
  "cache-control",
  "content-location",
  "date",
  "etag",
  "expires",
  "vary",
  "cdn-cache-control",
  "cache-groups",
];

test.each([
  ["public", '"7"', "br"],
  ["public", '"7"', "identity"],
  ["public", 'W/"7"', "br"],
  ["private", '"7"', "br"],
  ["private", '"7"', "identity"],
  ["private", 'W/"7"', "br"],
])(
  "the 304 has the headers of the %s 200 with the ETag %s and the coding %s (RFC 9110, 15.4.5)",
  async (scope, etag, coding) => {
    const stub = await startStub(({ headers }, response) => {
      response.setHeader("Cache-Control", `${scope}, max-age=60`).setHeader("ETag", etag);
      response.setHeader("Date", "Sat, 28 Nov 2026 12:00:00 GMT").setHeader("Expires", "Sat, 28 Nov 2026 12:01:00 GMT");
      response.setHeader("Vary", "Authorization").setHeader("Cache-Groups", '"a"');
      if (headers["if-none-match"] === etag) response.writeHead(304).end();
      else response.setHeader("Content-Length", "2000").end(`"${"x".repeat(1_998)}"`);
    });
    const nowMs = () => Date.UTC(2026, 10, 28, 12, 0, 1);
    const { url } = await startProxy(stub, { routes, nowMs, corsOrigins: ["http://localhost:*"] });
    const send = async (method: string, headers: Readonly<Record<string, string>> = {}) => {
      const common = { accept: v2, "accept-encoding": coding, "cache-control": "max-age=60" };
      const response = await fetch(`${url}/news/7`, { method, headers: { ...common, ...headers } });
      await response.arrayBuffer();
      return { status: response.status, headers: kept.map((name) => [name, response.headers.get(name)]), response };
    };
    const full = await send("GET");
    expect(full.status).toBe(200);
    const condition = { "if-none-match": full.response.headers.get("etag") ?? "" };
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await send(method, condition);
      expect([status, headers]).toEqual([304, full.headers]);
    }
  },
);

test("headers for one request are not in the cached response of another", async () => {
  const { send, stub } = await setUp({ corsOrigins: ["http://localhost:*"] });
  const first = await send("/news/7", { "x-request-id": "r-1", origin: "http://localhost:1", accept: v2 });
  const second = await send("/v2/news/7", { "x-request-id": "r-2", origin: "http://localhost:2" });
  expect(Object.fromEntries(first.headers)).toMatchObject({
    "access-control-allow-origin": "http://localhost:1",
    "content-location": "/v2/news/7",
    "content-type": v2,
    vary: "Origin, Accept",
  });
  expect(Object.fromEntries(second.headers)).toMatchObject({
    "access-control-allow-origin": "http://localhost:2",
    "content-type": "application/json",
    vary: "Origin",
    "api-version": "2",
    age: "0",
  });
  expect(second.headers.get("content-location")).toBeNull();
  // A CDN would store them and send them to other clients.
  for (const { headers } of [first, second]) {
    expect([headers.get("x-request-id"), headers.get("traceparent")]).toEqual([null, null]);
  }
  expect(stub.received).toHaveLength(1);
});

test("each version has its own cache entry, and a write in one version invalidates all of them", async () => {
  const { cacheStatusOf } = await setUp();
  const readAll = async () => [
    await cacheStatusOf("/v1/news/7"),
    await cacheStatusOf("/v2/news/7"),
    await cacheStatusOf("/v1/news"),
  ];
  const missed = "tributary; fwd=uri-miss; fwd-status=200; stored";
  expect(await readAll()).toEqual([missed, missed, missed]);
  expect(await readAll()).toEqual([hit, hit, hit]);
  expect(await cacheStatusOf("/v1/news/7", {}, "PATCH")).toBe("tributary; fwd=method; fwd-status=200");
  const confirmed = "tributary; fwd=stale; fwd-status=304; stored";
  expect(await readAll()).toEqual([confirmed, confirmed, hit]);
  await cacheStatusOf("/news", {}, "POST");
  expect(await readAll()).toEqual([hit, hit, confirmed]);
});

test("responses that the proxy creates itself have no Cache-Status", async () => {
  const { cacheStatusOf } = await setUp();
  await cacheStatusOf("/v1/news/7");
  expect([
    await cacheStatusOf("/v1/nothing"),
    await cacheStatusOf("/v1/news/7", {}, "PUT"),
    await cacheStatusOf("/v1/news/7", { accept: "text/html" }),
    await cacheStatusOf("/v1/news/7?c=1"),
    await cacheStatusOf("/v1/news/7", {}, "OPTIONS"),
  ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
});

test("a request is rejected even if a fresh response is cached", async () => {
  const { stub, proxy, cacheStatusOf } = await setUp();
  await cacheStatusOf("/v1/news/7");
  expect(await cacheStatusOf("/v1/news/7")).toBe(hit);
  for (const [request, status] of [
    ["GET /v1/news/%37 HTTP/1.1\r\nHost: a", 404],
    ["GET /v1/news/7?a=1&a=1 HTTP/1.1\r\nHost: a", 400],
    ["GET /v1/news/7 HTTP/1.1\r\nHost: a\r\nHost: b", 400],
    ["GET /v1/news/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 1", 400],
  ] as const) {
    expect(statusOf(await sendRaw(proxy.port, request, "x"))).toBe(status);
  }
  expect(stub.received).toHaveLength(1);
});

test("from its sunset on no cached response of a version is sent", async () => {
  let nowMs = Date.now();
  const retirements = [{ version: 1, deprecatedAtMs: undefined, sunsetAtMs: nowMs + 1_000 }];
  const { send, cacheStatusOf } = await setUp({ retirements, nowMs: () => nowMs });
  await cacheStatusOf("/v1/news/7");
  expect(await cacheStatusOf("/v1/news/7")).toBe(hit);
  nowMs += 1_000;
  expect((await send("/v1/news/7")).status).toBe(410);
});

test("a shared request has no headers about the client, nor what the proxy has negotiated", async () => {
  const { proxy, stub } = await setUp();
  await sendRaw(
    proxy.port,
    `GET /v1/news/7 HTTP/1.1\r\nHost: evil.example\r\nAccept: ${v2}, */*\r\nAccept-Encoding: zstd`,
  );
  expect(stub.received[0]?.headers).toMatchObject({ accept: "application/json", "accept-encoding": "identity" });
  expect(JSON.stringify(stub.received[0]?.headers)).not.toMatch(/forwarded|evil|zstd/);
});

test("a cached response has Connection: close while the process drains", async () => {
  const { proxy, cacheStatusOf } = await setUp();
  await cacheStatusOf("/v1/news/7");
  proxy.server.prependListener("request", (_request, response) => void response.setHeader("Connection", "close"));
  const client = await openConnection(proxy.port, "GET /v1/news/7 HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await client.closed()).toMatch(/\r\nConnection: close\r\n[^]*Cache-Status: tributary; hit/);
});

test("a client that does not read its cached response is disconnected in the end", async () => {
  const { proxy, send } = await setUp(
    {
      responseTimeoutMs: 100,
      cacheLimits: { bytesMax: 5e7, entryBytesMax: 5e7, entriesMax: 9, variantsMax: 9, backgroundMax: 9 },
    },
    JSON.stringify("x".repeat(20_000_000)),
  );
  await (await send("/v1/news/7")).arrayBuffer();
  const never = await openConnection(proxy.port, "GET /v1/news/7 HTTP/1.1\r\nHost: a\r\n\r\n");
  never.socket.pause();
  await expect
    .poll(() => proxy.observed)
    .toContainEqual(
      expect.objectContaining({ kind: "response-truncated", reason: "GATEWAY_TIMEOUT", path: "/v1/news/7" }),
    );
});

test("a hit is counted like any other response: by route, version and client, with its duration", async () => {
  const { proxy, send, stub } = await setUp({ knownClients: ["shop"] });
  for (let count = 0; count < 3; count++) await (await send("/v1/news/7", { "x-client-name": "shop" })).arrayBuffer();
  expect(stub.received).toHaveLength(1);
  expect(proxy.usage()).toEqual([{ version: 1, route: "getNew", client: "shop", requests: 3 }]);
  await expect.poll(() => proxy.settled).toHaveLength(3);
  for (const settled of proxy.settled) {
    expect(settled).toMatchObject({ status: 200, record: { version: 1, route: { id: "getNew" } } });
    expect(settled.milliseconds).toBeGreaterThan(0);
  }
});

test.each(["zstd", "br", "gzip"])(
  "a response with %s is compressed once, with its own ETag and length",
  async (coding) => {
    const { send, stub } = await setUp({}, long);
    const accepted = { "accept-encoding": coding };
    const responses = [await send("/v1/news/7", accepted), await send("/v1/news/7", accepted)];
    for (const { headers, status } of responses) {
      expect(status).toBe(200);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-encoding": coding,
        etag: `"7-${coding}"`,
        vary: "Accept-Encoding",
      });
      expect(Number(headers.get("content-length"))).toBeLessThan(200);
    }
    for (const response of responses) expect(await response.text()).toBe(long);
    const head = await send("/v1/news/7", accepted, "HEAD");
    const unchanged = await send("/v1/news/7", { ...accepted, "if-none-match": `"7-${coding}"` });
    expect([head.headers.get("etag"), head.headers.get("content-length"), unchanged.status]).toEqual([
      `"7-${coding}"`,
      responses[0]?.headers.get("content-length"),
      304,
    ]);
    expect(stub.received).toHaveLength(1);
    // Another coding is another variant with another ETag.
    const plain = await send("/v1/news/7", { "if-none-match": `"7-${coding}"` });
    expect([plain.status, plain.headers.get("etag"), plain.headers.get("vary")]).toEqual([
      200,
      '"7"',
      "Accept-Encoding",
    ]);
  },
);

test("the service never gets the ETag of a coding: neither in a validation nor in If-Match", async () => {
  let nowMs = Date.now();
  const { send, stub, cacheStatusOf } = await setUp({ nowMs: () => nowMs }, long);
  const accepted = { "accept-encoding": "br" };
  await send("/v1/news/7", accepted);
  nowMs += 61_000;
  const renewed = await send("/v1/news/7", accepted);
  expect([renewed.status, renewed.headers.get("etag"), await renewed.text()]).toEqual([200, '"7-br"', long]);
  expect(await cacheStatusOf("/v1/news/7", accepted)).toBe(hit);
  await send("/v1/news/7", { "if-match": '"7-br", "6-gzip", "5-zstd"' }, "PATCH");
  expect(stub.received.map(({ headers }) => headers["if-none-match"] ?? headers["if-match"])).toEqual([
    undefined,
    '"7"',
    '"7", "6", "5"',
  ]);
});

test("a first HEAD has the ETag and the length of the GET response", async () => {
  const { send } = await setUp({}, long);
  const accepted = { "accept-encoding": "gzip" };
  const [head, get] = [await send("/v2/news/8", accepted, "HEAD"), await send("/v2/news/8", accepted)];
  for (const name of ["etag", "content-length", "content-encoding", "vary"]) {
    expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
  }
  expect(head.headers.get("content-encoding")).toBe("gzip");
});

test("a response without explicit freshness is fresh for a tenth of its age where the route allows it (RFC 9111, 4.2.2)", async () => {
  let nowMs = Date.now();
  const modified = new Date(nowMs - 300_000).toUTCString();
  const stub = await startStub((_request, response) => response.setHeader("Last-Modified", modified).end("{}"));
  const allowing = [
    route("getGuide", "GET", "/guides/:id", { cache: "public", heuristicSecondsMax: 60 }),
    route("getHint", "GET", "/hints/:id", { cache: "public", heuristicSecondsMax: 10 }),
    route("getNews", "GET", "/news/:id", { cache: "public" }),
  ];
  const proxy = await startProxy(stub, { routes: allowing, nowMs: () => nowMs });
  const isHit = async (path: string) =>
    (await fetch(`${proxy.url}/v1/${path}/7`)).headers.get("cache-status")?.includes("; hit") ?? false;
  const areHits = async () => [await isHit("guides"), await isHit("hints"), await isHit("news")];
  expect(await areHits()).toEqual([false, false, false]);
  nowMs += 8_000;
  expect(await areHits()).toEqual([true, true, false]);
  nowMs += 8_000;
  expect(await areHits()).toEqual([true, false, false]);
  nowMs += 16_000;
  expect(await isHit("guides")).toBe(false);
});

test("a failed refresh is reported with its service and replica", async () => {
  const stub = await startStub((request, response) => {
    if (stub.received.length > 1) return void request.socket.destroy();
    response.setHeader("Cache-Control", "public, max-age=0, stale-while-revalidate=60").end("{}");
  });
  const proxy = await startProxy(stub, { routes });
  for (let i = 0; i < 2; i++) expect((await fetch(`${proxy.url}/v2/news/7`)).status).toBe(200);
  const cause: unknown = expect.objectContaining({ code: "BAD_GATEWAY", replica: `${stub.url}/` });
  const failed: unknown = expect.objectContaining({ kind: "refresh-failed", service: "things", cause });
  await expect.poll(() => proxy.observed).toContainEqual(failed);
});

// A client that has the response to its write through this proxy reads what it wrote (src/cache/test/writes.test.ts has the cases of the cache).

const listRoutes = [
  route("listThings", "GET", "/things", { cache: "public" }),
  route("changeThing", "PATCH", "/things/:id", {}),
  route("changePart", "PATCH", "/parts/:id", { service: "parts" }),
];

const collapsed = "tributary; fwd=uri-miss; collapsed";

/** A proxy whose service holds each response until the test ends it. */
async function setUpHeld(settings: ProxySettings = {}) {
  const held: ServerResponse[] = [];
  const stub = await startStub((_request, response) => void held.push(response));
  const { url, port, server } = await startProxy(stub, { routes: listRoutes, ...settings });
  let receivedCount = 0;
  server.on("request", () => receivedCount++);

  /** Sends a request and waits until the service has it. */
  async function arrive(method: string, path: string) {
    const count = held.length;
    const response = fetch(url + path, { method });
    await expect.poll(() => held.length).toBe(count + 1);
    return { response, atService: held[count] as ServerResponse };
  }

  /** Sends a read and waits until the proxy has it. It joins another one, or gets what is stored. */
  async function join(path: string) {
    const count = receivedCount;
    const response = fetch(url + path);
    await expect.poll(() => receivedCount).toBe(count + 1);
    return async () => [(await response).headers.get("cache-status"), await (await response).json()];
  }

  async function write(path: string): Promise<void> {
    const { response, atService } = await arrive("PATCH", path);
    atService.end("{}");
    await response;
  }

  return { url, port, arrive, join, write };
}

type Arrived = Awaited<ReturnType<Awaited<ReturnType<typeof setUpHeld>>["arrive"]>>;

async function respond({ response, atService }: Arrived, text: string): Promise<unknown> {
  atService.setHeader("Cache-Control", "public, max-age=60").end(JSON.stringify(text));
  return (await response).json();
}

test("a list joins none that was sent before the response to a write of a member", async () => {
  const { arrive, write } = await setUpHeld();
  const before = await arrive("GET", "/v1/things");
  await write("/v1/things/1");
  const after = await arrive("GET", "/v1/things");
  expect([await respond(after, "new"), await respond(before, "old")]).toEqual(["new", "old"]);
});

test("a list joins one that was sent before a write to another service", async () => {
  const { arrive, join, write } = await setUpHeld();
  const before = await arrive("GET", "/v1/things");
  await write("/v1/parts/1");
  const joined = await join("/v1/things");
  await respond(before, "list");
  expect(await joined()).toEqual([collapsed, "list"]);
});

test("a list sent before a write that timed out is neither joined nor stored", async () => {
  const { arrive, join } = await setUpHeld({ upstreamTimeoutMs: 600 });
  const writing = await arrive("PATCH", "/v1/things/1");
  // So that the read does not time out with the write.
  await sleep(300);
  const before = await arrive("GET", "/v1/things");
  expect((await writing.response).status).toBe(504);
  const after = await arrive("GET", "/v1/things");
  await respond(before, "old");
  const joined = await join("/v1/things");
  await respond(after, "new");
  expect(await joined()).toEqual([collapsed, "new"]);
});

test("a write that is rejected because too many requests are in flight ends no coalescing", async () => {
  const { url, arrive, join } = await setUpHeld({ inFlightMax: 1 });
  const before = await arrive("GET", "/v1/things");
  expect((await fetch(`${url}/v1/things/1`, { method: "PATCH" })).status).toBe(503);
  const joined = await join("/v1/things");
  await respond(before, "list");
  expect(await joined()).toEqual([collapsed, "list"]);
});

test("a write that was not sent before its deadline keeps no list from being stored", async () => {
  const { port, arrive, join } = await setUpHeld();
  const before = await arrive("GET", "/v1/things");
  const head = "PATCH /v1/things/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json";
  const late = await openConnection(port, `${head}\r\nX-Deadline-Ms: 50\r\nContent-Length: 2\r\n\r\n{`);
  await sleep(80); // Until after the deadline.
  late.socket.write("}");
  expect(statusOf(await late.closed())).toBe(504);
  await respond(before, "list");
  const joined = await join("/v1/things");
  expect(await joined()).toEqual([expect.stringContaining("hit"), "list"]);
});

test.each([
  ["the cookie", "cookie", "Accept"],
  ["the address, which Vary names,", "x-forwarded-for", "X-Forwarded-For"],
])("of a route without caching, a response by %s of the client is neither shared nor stored", async (_, name, vary) => {
  const held: (() => void)[] = [];
  const stub = await startStub(({ headers }, response) => {
    response.setHeader("Cache-Control", fresh).setHeader("Vary", vary);
    held.push(() => void response.end(JSON.stringify(headers[name])));
  });
  const proxy = await startProxy(stub, {
    routes: [route("getMine", "GET", "/mine", { cache: "none" })],
    callerConfig: { ...plainCallerConfig, trustedProxies: ["127.0.0.0/8"] },
  });
  const read = async (value: string) => (await fetch(`${proxy.url}/v1/mine`, { headers: { [name]: value } })).text();
  const clients = ["192.0.2.1", "192.0.2.2"];
  const joined = Promise.all(clients.map(read));
  await expect.poll(() => held.length).toBe(2);
  for (const respondTo of held) respondTo();
  expect(await joined).toEqual(clients.map((value) => expect.stringContaining(value)));
  const later = read("192.0.2.3");
  await expect.poll(() => held.length).toBe(3);
  held[2]?.();
  expect(await later).toContain("192.0.2.3");
});

test("a field that Connection names selects no response, since the service does not get it", async () => {
  const stub = await startStub(({ headers }, response) => {
    response.setHeader("Cache-Control", fresh).setHeader("Vary", "Accept-Language");
    response.end(JSON.stringify(headers["accept-language"] ?? "none"));
  });
  const proxy = await startProxy(stub, { routes, corsOrigins: [] });
  const request =
    "GET /v2/news/7 HTTP/1.1\r\nHost: a\r\nAccept-Language: fr\r\nConnection: close, accept-language\r\n\r\n";
  expect(await sendRaw(proxy.port, request)).toMatch(/"none"$/);
  const headers = { "accept-language": "fr" };
  expect(await (await fetch(`${proxy.url}/v2/news/7`, { headers })).text()).toBe('"fr"');
});

test("a compressed response without an ETag remains one for clients with its coding after a 304 with another Vary", async () => {
  let nowMs = Date.now();
  const stub = await startStub(({ headers }, response) => {
    response
      .setHeader("Cache-Control", fresh)
      .setHeader("Vary", "Accept-Language")
      .setHeader("Content-Digest", "sha-256=:a:");
    response
      .setHeader("Date", new Date(nowMs).toUTCString())
      .setHeader("Last-Modified", "Fri, 20 Nov 2026 23:00:00 GMT");
    if (headers["if-modified-since"] !== undefined) return void response.writeHead(304).end();
    response.setHeader("Content-Type", "application/json").setHeader("Content-Length", long.length).end(long);
  });
  const proxy = await startProxy(stub, { routes, corsOrigins: [], nowMs: () => nowMs });
  const send = (coding: string) => fetch(`${proxy.url}/v2/news/7`, { headers: { "accept-encoding": coding } });
  for (const seconds of [0, 61]) {
    nowMs += seconds * 1_000;
    const { headers } = await send("gzip");
    expect([headers.get("content-encoding"), headers.get("content-digest")]).toEqual(["gzip", null]);
  }
  const plain = await send("identity");
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(await plain.text()).toBe(long);
});
