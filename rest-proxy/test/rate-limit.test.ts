import { expect, test } from "vitest";
import {
  plainCallerConfig,
  sendRaw,
  noRateLimits,
  route,
  type Running,
  openConnection,
  startProxy,
  startStub,
} from "./testing.ts";

let atMs = 1_000_000;

async function startLimited(
  limits: object,
  settings: object = {},
): Promise<Running & { readonly requests: () => number }> {
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "public, max-age=1000");
    response.setHeader("ETag", '"1"');
    response.end('{"ok":true}');
  });
  const routes = [
    route("getThing", "GET", "/things/:id", { cache: "public" }),
    route("changeThing", "PATCH", "/things/:id", {}),
  ];
  const rateLimitConfig = { ...noRateLimits, readsPerMinute: 3, writesPerMinute: 2, ...limits };
  const proxy = await startProxy(stub, { routes, rateLimitConfig, monotonicNowMs: () => atMs, ...settings });
  return { ...proxy, requests: () => stub.received.length };
}

async function read(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v1/things/1`, { headers });
  const body: unknown = await response.json();
  const fields = Object.fromEntries(response.headers);
  return { status: response.status, body, ...fields, limit: fields["ratelimit"] };
}

function write(url: string, path = "/v1/things/1") {
  return fetch(url + path, {
    method: "PATCH",
    body: "{}",
    headers: { "Content-Type": "application/merge-patch+json" },
  });
}

test("a client's reads are admitted up to the quota, and rejected after it", async () => {
  const { url, requests } = await startLimited({});
  const responses = [await read(url), await read(url), await read(url)];
  expect(responses.map(({ status, limit }) => [status, limit])).toEqual([
    [200, '"reads";r=2;t=20'],
    [200, '"reads";r=1;t=40'],
    [200, '"reads";r=0;t=60'],
  ]);
  expect(responses[0]).toMatchObject({ "ratelimit-policy": '"reads";q=3;w=60' });
  expect(await read(url)).toMatchObject({
    status: 429,
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    "retry-after": "20",
    "ratelimit-policy": '"reads";q=3;w=60',
    limit: '"reads";r=0;t=60',
    body: { type: "/problems/too-many-requests", status: 429, instance: "/v1/things/1" },
  });
  expect(requests()).toBe(1);
});

test("a client is admitted after Retry-After", async () => {
  const { url } = await startLimited({});
  for (let count = 0; count < 3; count++) await read(url);
  const { "retry-after": seconds } = (await read(url)) as { "retry-after"?: string };
  atMs += Number(seconds) * 1_000 - 1;
  expect((await read(url)).status).toBe(429);
  atMs += 1;
  expect((await read(url)).status).toBe(200);
});

test("writes are counted separately from reads, and rejected before a request to the service", async () => {
  const { url, requests } = await startLimited({});
  for (let count = 0; count < 3; count++) await read(url);
  const statuses = [await write(url), await write(url), await write(url)].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 429]);
  expect(requests()).toBe(3);
});

test("every response has the limit: a cached response, a 304, a 404, a document, a 406", async () => {
  const { url, port } = await startLimited({ readsPerMinute: 60 });
  const responses = [
    await fetch(`${url}/v1/things/1`),
    await fetch(`${url}/v1/things/1`),
    await fetch(`${url}/v1/things/1`, { headers: { "If-None-Match": '"1"' } }),
    await fetch(`${url}/v1/nothing`),
    await fetch(`${url}/problems/not-found`),
    await fetch(`${url}/v1/things/1`, { headers: { Accept: "text/html" } }),
  ];
  const limits = responses.map(({ status, headers }) => [status, headers.get("ratelimit")]);
  expect(limits).toEqual(
    [200, 200, 304, 404, 200, 406].map((status, at) => [status, `"reads";r=${59 - at};t=${at + 1}`]),
  );
  const unreadable = await sendRaw(port, `GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}`);
  expect(unreadable).toMatch(/^HTTP\/1\.1 431[^]*\r\nRateLimit: "reads";r=53;t=7\r\n/);
});

test("invalid input counts as a read", async () => {
  const { url, port } = await startLimited({});
  for (let count = 0; count < 3; count++) await (await openConnection(port, "nonsense\r\n\r\n")).closed();
  expect((await read(url)).status).toBe(429);
});

test("a preflight is not counted, and a page of an allowed origin can read the rejection", async () => {
  const { url } = await startLimited({ readsPerMinute: 1 });
  const Origin = "http://localhost:3000";
  const preflight = { Origin, "Access-Control-Request-Method": "GET" };
  for (let count = 0; count < 5; count++) await fetch(`${url}/v1/things/1`, { method: "OPTIONS", headers: preflight });
  expect((await read(url, { Origin })).status).toBe(200);
  const rejected = await read(url, { Origin });
  expect(rejected).toMatchObject({ status: 429, "access-control-allow-origin": Origin });
  expect(rejected).toMatchObject({
    "access-control-expose-headers": expect.stringMatching(/retry-after.*RateLimit,/),
  });
});

test("HEAD is rejected without a body", async () => {
  const { port } = await startLimited({ readsPerMinute: 1 });
  const head = "HEAD /v1/things/1 HTTP/1.1\r\nHost: a";
  await sendRaw(port, head);
  expect(await sendRaw(port, head)).toMatch(/^HTTP\/1\.1 429[^]*\r\n\r\n$/);
});

test("large responses and bodies cost units by their size, those of cache hits and small ones do not", async () => {
  const stub = await startStub((request, response) => {
    response.setHeader("Cache-Control", request.url.includes("stored") ? "public, max-age=1000" : "no-store");
    response.end(request.url.includes("large") ? Buffer.alloc(4_000_000) : "{}");
  });
  const routes = [
    route("getThing", "GET", "/things/:id", { cache: "public" }),
    route("changeThing", "PATCH", "/things/:id", {}),
  ];
  const cacheLimits = { bytesMax: 9e6, entryBytesMax: 9e6, entriesMax: 9, variantsMax: 8, backgroundMax: 8 };
  const rateLimitConfig = { ...noRateLimits, readsPerMinute: 60, writesPerMinute: 60 };
  const more = { routes, rateLimitConfig, cacheLimits, bodyBytesMax: 5e6, monotonicNowMs: () => atMs };
  const { url } = await startProxy(stub, more);
  const leftAfter = async (path: string, body?: Buffer) => {
    const headers = { "Content-Type": "application/merge-patch+json" };
    const response = await fetch(`${url}/v1/things/${path}`, body && { method: "PATCH", headers, body });
    await response.arrayBuffer();
    return Number(/r=(\d+)/.exec(response.headers.get("ratelimit") ?? "")?.[1]);
  };
  // 4 MB take 5 ms: 1 unit is charged before, 4 are debited afterwards.
  expect(await leftAfter("large")).toBe(59);
  expect(await leftAfter("large-stored")).toBe(54);
  expect(await leftAfter("large-stored")).toBe(49);
  expect(await leftAfter("small")).toBe(48);
  expect(await leftAfter("small", Buffer.alloc(4_000_000))).toBe(59);
  expect(await leftAfter("small", Buffer.alloc(4_000_000))).toBe(54);
  expect(await leftAfter("small")).toBe(47);
});

test("requests of exempt networks are not counted and get no rate limit headers", async () => {
  const { url } = await startLimited({ readsPerMinute: 1, exempt: ["127.0.0.0/8"] });
  for (let count = 0; count < 3; count++) expect(await read(url)).toMatchObject({ status: 200, limit: undefined });
});

test("behind a trusted proxy each client has its own limit, and none can claim the address of another", async () => {
  const { url } = await startLimited(
    { readsPerMinute: 1 },
    { callerConfig: { ...plainCallerConfig, trustedProxies: ["127.0.0.1"] } },
  );
  const from = (forwarded: string) => read(url, { "X-Forwarded-For": forwarded });
  expect((await from("192.0.2.1")).status).toBe(200);
  expect((await from("192.0.2.2")).status).toBe(200);
  expect((await from("198.51.100.1, 192.0.2.1")).status).toBe(429);
  expect((await from("2001:db8::1")).status).toBe(200);
  expect((await from("2001:db8::ffff:2")).status).toBe(429);
});

test("without trusted proxies no client can claim another address", async () => {
  const { url } = await startLimited({ readsPerMinute: 1 });
  await read(url, { "X-Forwarded-For": "192.0.2.1", "X-Real-IP": "192.0.2.1", Forwarded: "for=192.0.2.1" });
  const again = { "X-Forwarded-For": "192.0.2.2", "X-Real-IP": "192.0.2.2", Forwarded: "for=192.0.2.2" };
  expect((await read(url, again)).status).toBe(429);
});

test("a limit of 0 means no limit", async () => {
  const { url } = await startLimited({ readsPerMinute: 0 });
  for (let count = 0; count < 10; count++) expect(await read(url)).toMatchObject({ status: 200, limit: undefined });
  const statuses = [await write(url), await write(url), await write(url)].map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 429]);
});
