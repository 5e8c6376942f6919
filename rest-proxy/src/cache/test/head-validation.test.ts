import { expect, test } from "vitest";
import { setUp } from "./testing.ts";

const stored = ["Cache-Control", "max-age=10", "ETag", '"a"', "X-Kept", "1"];

test("a HEAD response about the stored representation freshens it (RFC 9111, 4.3.5)", async () => {
  const { get, respondAlways, passSeconds, requestCount } = await setUp();
  respondAlways((request) => request.respond(200, stored, "hello"));
  await get("/a");
  passSeconds(10);
  respondAlways((request) => request.respond(200, ["Cache-Control", "max-age=20", "ETag", '"a"', "X-New", "1"]));
  await get("/a", {}, "HEAD");
  passSeconds(19);
  expect(await get("/a")).toMatchObject({
    body: "hello",
    headers: { "x-kept": "1", "x-new": "1", "content-length": "5", "cache-status": "test; hit; ttl=1" },
  });
  expect(requestCount()).toBe(2);
});

test.each([
  ["another ETag", ["ETag", '"b"']],
  ["a validator that is not stored", ["ETag", '"a"', "Last-Modified", "Sat, 21 Nov 2026 00:00:00 GMT"]],
  ["another length", ["ETag", '"a"', "Content-Length", "6"]],
  ["no validator and no length", []],
])("a HEAD response with %s removes the stored response", async (_, headers) => {
  const { get, respondAlways, passSeconds } = await setUp();
  respondAlways((request) => request.respond(200, stored, "hello"));
  await get("/a");
  passSeconds(10);
  respondAlways((request) => request.respond(200, ["Cache-Control", "max-age=20", ...headers]));
  await get("/a", {}, "HEAD");
  respondAlways((request) => request.respond(200, [], request.headers["if-none-match"] ?? "fetched anew"));
  expect((await get("/a")).body).toBe("fetched anew");
});

test.each([
  [404, {}],
  [500, {}],
  [200, { Authorization: "Bearer x" }],
])("a HEAD response with %s to a request with %o does not change the stored response", async (status, headers) => {
  const { get, respondAlways, passSeconds } = await setUp();
  respondAlways((request) => request.respond(200, stored, "hello"));
  await get("/a");
  passSeconds(10);
  respondAlways((request) => request.respond(status, ["Cache-Control", "max-age=20", "ETag", '"b"']));
  await get("/a", headers, "HEAD");
  respondAlways((request) => request.respond(200, [], request.headers["if-none-match"] ?? "fetched anew"));
  expect((await get("/a")).body).toBe('"a"');
});

test("a HEAD sent before a write does not freshen a response stored after it", async () => {
  const { get, send, nextRequest, respondAlways, passSeconds } = await setUp();
  const first = get("/a");
  (await nextRequest()).respond(200, stored, "hello");
  await first;
  passSeconds(10);
  const head = send("/a", {}, "HEAD");
  const headRequest = await nextRequest();
  const written = get("/a", {}, "PUT");
  (await nextRequest()).respond(204, []);
  await written;
  const second = get("/a");
  (await nextRequest()).respond(200, ["Cache-Control", "max-age=10"], "hallo");
  await second;
  headRequest.respond(200, ["Cache-Control", "max-age=1000", "Content-Length", "5"]);
  await head.response;
  respondAlways((request) => request.respond(200, [], "fetched anew"));
  expect((await get("/a")).body).toBe("fetched anew");
});
