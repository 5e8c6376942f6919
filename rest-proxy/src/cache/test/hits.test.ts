import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { endWith, relayBody } from "../body-relay.ts";
import { listen, setUp } from "./testing.ts";
import { boundedRequestRules } from "../reuse-rules.ts";
import { fullRequestRules } from "./standalone/request-rules.ts";

const fresh = ["Cache-Control", "max-age=60", "ETag", '"a"'];

test("a fresh response is sent again without a request to the origin, with Age and Cache-Status", async () => {
  const { get, respondAlways, requestCount, passSeconds } = await setUp();
  respondAlways((request) => request.respond(200, [...fresh, "Age", "5", "Link", "<a>", "Link", "<b>"], "hello"));
  const first = await get("/a");
  expect(first.headers["cache-status"]).toBe("test; fwd=uri-miss; fwd-status=200; stored");
  passSeconds(10);
  const second = await get("/a");
  expect(second).toMatchObject({ status: 200, body: "hello" });
  expect(second.headers).toMatchObject({
    age: "15",
    "cache-status": "test; hit; ttl=45",
    "content-length": "5",
    link: "<a>, <b>",
    "x-own": "1",
  });
  expect(requestCount()).toBe(1);
});

test("a response from the future is fetched again: the clock was set back", async () => {
  const { get, respondAlways, passSeconds } = await setUp();
  respondAlways((request) => request.respond(200, fresh, "old"));
  await get("/a");
  respondAlways((request) => request.respond(200, fresh, "new"));
  passSeconds(-3_600);
  expect((await get("/a")).body).toBe("new");
});

test("hop-by-hop headers and headers of the caller are never stored", async () => {
  const { get, respondAlways } = await setUp();
  respondAlways((request) => request.respond(200, [...fresh, "Connection", "X-Hop", "X-Hop", "1"], "hello"));
  const first = await get("/a");
  const second = await get("/a");
  expect([first.headers["x-hop"], second.headers["x-hop"]]).toEqual([undefined, undefined]);
  expect(second.headers["x-own"]).toBe("1");
});

test("HEAD and conditional requests are served from a stored GET", async () => {
  const { get, respondAlways, requestCount } = await setUp();
  respondAlways((request) => request.respond(200, [...fresh, "Content-Type", "text/x"], "hello"));
  await get("/a");
  expect(await get("/a", {}, "HEAD")).toMatchObject({ status: 200, body: "", headers: { "content-length": "5" } });
  const unchanged = await get("/a", { "If-None-Match": '"a"' });
  expect(unchanged).toMatchObject({ status: 304, body: "", headers: { etag: '"a"', "cache-control": "max-age=60" } });
  expect(unchanged.headers["content-type"]).toBeUndefined();
  expect((await get("/a", { "If-None-Match": '"b"' })).status).toBe(200);
  expect(requestCount()).toBe(1);
});

test("a client's conditions are not sent with a shared request, and are evaluated by the cache", async () => {
  const { send, nextRequest, get } = await setUp();
  const sent = send("/a", { "If-None-Match": '"a"', "If-Modified-Since": "x" });
  const pending = await nextRequest();
  expect(pending.headers).not.toHaveProperty("if-none-match");
  expect(pending.headers).not.toHaveProperty("if-modified-since");
  pending.respond(200, fresh, "hello");
  expect((await sent.response).status).toBe(304);
  expect(await get("/a")).toMatchObject({ status: 200, body: "hello" });
});

test("variants are stored separately by the headers in Vary, and each is a hit", async () => {
  const { get, respondAlways, requestCount } = await setUp();
  respondAlways((request) =>
    request.respond(200, [...fresh, "Vary", "Accept-Language"], request.headers["accept-language"] ?? "none"),
  );
  for (const language of ["en", "de", "en", "de"]) {
    expect((await get("/a", { "Accept-Language": language })).body).toBe(language);
  }
  const other = await get("/a");
  expect(other.headers["cache-status"]).toMatch(/fwd=vary-miss/);
  expect(requestCount()).toBe(3);
});

test.each([
  ["no-store", {}],
  ["private, max-age=60", {}],
  ["max-age=60", { Authorization: "Bearer x" }],
])("a response with Cache-Control: %s to a request with %j is not stored", async (cacheControl, headers) => {
  const { get, respondAlways, requestCount } = await setUp();
  respondAlways((request) => request.respond(200, ["Cache-Control", cacheControl], "mine"));
  await get("/a", headers);
  expect((await get("/a")).headers["cache-status"]).toMatch(/fwd=/);
  expect(requestCount()).toBe(2);
});

test("a public response is stored although the request had a token", async () => {
  const { get, respondAlways, requestCount } = await setUp();
  respondAlways((request) => request.respond(200, ["Cache-Control", "public, max-age=60"], "public"));
  await get("/a", { Authorization: "Bearer x" });
  expect((await get("/a")).body).toBe("public");
  expect(requestCount()).toBe(1);
});

test("a response with Vary: * is not stored (RFC 9111, 4.1)", async () => {
  const { get, respondAlways, requestCount } = await setUp();
  respondAlways((request) => request.respond(200, [...fresh, "Vary", "Accept, *"], "hello"));
  await get("/a");
  await get("/a");
  expect(requestCount()).toBe(2);
});

test("with the full rules for requests, Range is forwarded to the origin, and a partial response is not stored", async () => {
  const { get, respondAlways, requestCount } = await setUp({ requestRules: fullRequestRules });
  respondAlways((request) => {
    if (request.headers.range) request.respond(206, [...fresh, "Content-Range", "bytes 0-0/5"], "h");
    else request.respond(200, fresh, "hello");
  });
  expect(await get("/a", { Range: "bytes=0-0" })).toMatchObject({ status: 206, body: "h" });
  expect((await get("/a")).body).toBe("hello");
  expect((await get("/a", { Range: "bytes=0-0" })).headers["cache-status"]).toBe("test; fwd=bypass; fwd-status=206");
  expect(requestCount()).toBe(3);
});

test.each([
  ["bounded", boundedRequestRules, 2],
  ["full", fullRequestRules, 4],
])(
  "with the %s rules for requests, three requests with no-cache in a second cause the expected number of requests to the origin",
  async (_name, requestRules, count) => {
    const { get, respondAlways, requestCount } = await setUp({ requestRules });
    respondAlways((request) => request.respond(200, fresh, "hello"));
    await get("/a");
    for (let time = 0; time < 3; time++) await get("/a", { "Cache-Control": "no-cache" });
    expect(requestCount()).toBe(count);
  },
);

test("only-if-cached is served from the store or with 504 (RFC 9111, 5.2.1.7)", async () => {
  const { get, respondAlways, requestCount } = await setUp({ requestRules: fullRequestRules });
  respondAlways((request) => request.respond(200, fresh, "hello"));
  expect((await get("/a", { "Cache-Control": "only-if-cached" })).status).toBe(504);
  await get("/a");
  expect((await get("/a", { "Cache-Control": "only-if-cached" })).body).toBe("hello");
  expect(requestCount()).toBe(1);
});

test("a response longer than entryBytesMax is relayed as a whole and not stored", async () => {
  const { get, respondAlways, requestCount } = await setUp({ entryBytesMax: 10_000 });
  const body = "x".repeat(50_000);
  respondAlways(({ response }) => response.writeHead(200, { "Cache-Control": "max-age=60" }).end(body));
  expect((await get("/a")).body).toBe(body);
  expect((await get("/a")).body).toBe(body);
  expect(requestCount()).toBe(2);
});

test("a complete body is returned although the client has disconnected, without an error", async () => {
  const client = await disconnectedResponse();
  const errors: Error[] = [];
  client.on("error", (error) => errors.push(error));
  const whole = await relayBody(Buffer.from("all of it"), { client, bytesMax: 9, isWanted: () => false });
  await new Promise((resolve) => setImmediate(resolve));
  expect([whole?.toString(), errors]).toEqual(["all of it", []]);
});

test("a complete body longer than bytesMax is not returned, and reported as too long", async () => {
  let tooLong = 0;
  const o = { client: undefined, isWanted: () => false, onTooLong: () => void tooLong++ };
  expect(await relayBody(Buffer.from("all of it"), { ...o, bytesMax: 8 })).toBeUndefined();
  expect(await relayBody(Buffer.from("all of it"), { ...o, bytesMax: 0 })).toBeUndefined();
  expect(tooLong).toBe(1);
});

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

test.each([
  ["no body", undefined],
  ["an empty body", Buffer.of()],
  ["every byte value", allBytes],
  ["the longest that is written as text", Buffer.alloc(8_192, allBytes)],
  ["the shortest that is not", Buffer.alloc(8_193, allBytes)],
])("a body arrives byte for byte: %s", async (_name, body) => {
  const length = String(body?.length ?? 0);
  const { url } = await listen((_request, response) => {
    response.writeHead(200, ["Content-Length", length]);
    endWith(response, body);
  });
  const received = await (await fetch(url)).arrayBuffer();
  expect(Buffer.from(received)).toEqual(body ?? Buffer.of());
});

/** The response to a client that has disconnected. */
async function disconnectedResponse(): Promise<ServerResponse> {
  const arrived = Promise.withResolvers<ServerResponse>();
  const { url } = await listen((_request, response) => arrived.resolve(response));
  const client = new AbortController();
  fetch(url, { signal: client.signal }).catch(() => undefined);
  const response = await arrived.promise;
  client.abort();
  await once(response, "close");
  return response;
}
