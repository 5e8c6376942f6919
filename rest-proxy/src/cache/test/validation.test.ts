import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { setUp } from "./testing.ts";

test("a stale response is validated with its ETag, and a 304 freshens it (RFC 9111, 4.3)", async () => {
  const { get, respondAlways, passSeconds, requestCount } = await setUp();
  respondAlways((request) =>
    request.respond(200, ["Cache-Control", "max-age=10", "ETag", '"a"', "X-Kept", "1"], "hello"),
  );
  await get("/a");
  passSeconds(10);
  respondAlways((request) => request.respond(304, ["Cache-Control", "max-age=20", "ETag", '"a"', "X-New", "1"]));
  const validated = await get("/a", { "If-None-Match": '"other"' });
  expect(validated).toMatchObject({ status: 200, body: "hello", headers: { "x-kept": "1", "x-new": "1", age: "0" } });
  expect(validated.headers["cache-status"]).toBe("test; fwd=stale; fwd-status=304; stored");
  passSeconds(19);
  expect((await get("/a")).headers["cache-status"]).toBe("test; hit; ttl=1");
  expect(requestCount()).toBe(2);
});

test("the origin gets the stored ETag, not the client's", async () => {
  const { get, respondAlways, passSeconds } = await setUp();
  const sentTags: unknown[] = [];
  respondAlways((request) => {
    sentTags.push(request.headers["if-none-match"]);
    request.respond(200, ["Cache-Control", "max-age=10", "ETag", '"a"'], "hello");
  });
  await get("/a", { "If-None-Match": '"mine"' });
  passSeconds(10);
  await get("/a", { "If-None-Match": '"mine"' });
  expect(sentTags).toEqual([undefined, '"a"']);
});

test("a new response replaces the stale one, even if the new one must not be stored", async () => {
  const { get, respondAlways, passSeconds } = await setUp();
  respondAlways((request) =>
    request.respond(200, ["Cache-Control", "max-age=10, stale-if-error=100", "ETag", '"a"'], "old"),
  );
  await get("/a");
  passSeconds(10);
  respondAlways((request) => request.respond(404, ["Cache-Control", "no-store"], "gone"));
  expect((await get("/a")).body).toBe("gone");
  respondAlways((request) => request.response.destroy());
  expect((await get("/a")).status).toBe(502);
});

test("a 304 with another ETag freshens nothing (RFC 9111, 4.3.4)", async () => {
  const { get, respondAlways, passSeconds, requestCount } = await setUp();
  respondAlways((request) => request.respond(200, ["Cache-Control", "max-age=10", "ETag", '"a"'], "hello"));
  await get("/a");
  passSeconds(10);
  respondAlways((request) => request.respond(304, ["Cache-Control", "max-age=100", "ETag", '"b"']));
  expect(await get("/a")).toMatchObject({ status: 200, body: "hello", headers: { etag: '"a"' } });
  await get("/a");
  expect(requestCount()).toBe(3);
});

test("with stale-while-revalidate, a stale response is sent at once and refreshed once (RFC 5861, 3)", async () => {
  const { get, nextRequest, respondAlways, passSeconds, requestCount } = await setUp();
  const first = get("/a");
  (await nextRequest()).respond(200, ["Cache-Control", "max-age=10, stale-while-revalidate=10", "ETag", '"a"'], "old");
  await first;
  passSeconds(15);
  const stale = await Promise.all([get("/a"), get("/a"), get("/a")]);
  expect(stale.map(({ body, headers }) => [body, headers["cache-status"]])).toEqual(
    Array.from({ length: 3 }, () => ["old", "test; hit; ttl=-5"]),
  );
  (await nextRequest()).respond(200, ["Cache-Control", "max-age=10"], "new");
  await expect.poll(async () => (await get("/a")).body).toBe("new");
  expect(requestCount()).toBe(2);
  passSeconds(30);
  respondAlways((request) => request.respond(200, [], "newest"));
  expect((await get("/a")).body).toBe("newest");
});

test.each([
  ["public, max-age=10", "new"],
  ["max-age=10", "fetched again"],
])(
  "after a refresh with a token and Cache-Control: %s, other clients get the body '%s'",
  async (cacheControl, body) => {
    const { get, nextRequest, passSeconds, respondAlways } = await setUp();
    const first = get("/a");
    (await nextRequest()).respond(200, ["Cache-Control", "max-age=10, stale-while-revalidate=100"], "old");
    await first;
    passSeconds(15);
    await get("/a", { Authorization: "Bearer x" });
    const refresh = await nextRequest();
    expect(refresh.headers.authorization).toBe("Bearer x");
    respondAlways((request) => request.respond(200, ["Cache-Control", "no-store"], "fetched again"));
    refresh.respond(200, ["Cache-Control", cacheControl], "new");
    await expect.poll(async () => (await get("/a")).body).toBe(body);
  },
);

const destroy: Parameters<Awaited<ReturnType<typeof setUp>>["respondAlways"]>[0] = ({ response }) =>
  void response.destroy();

test.each([
  ["without a response", "", destroy],
  ["without a response, with stale-if-error", ", stale-if-error=1000", destroy],
  ["by a 503, with stale-if-error", ", stale-if-error=1000", ({ respond }) => respond(503, [])],
])("after a refresh failed %s, there is a pause, and the stale response is still sent", async (_, policy, fail) => {
  const { get, respondAlways, passSeconds, requestCount, observed } = await setUp();
  const cacheControl = `max-age=10, stale-while-revalidate=100${policy}`;
  respondAlways((request) => request.respond(200, ["Cache-Control", cacheControl], "old"));
  await get("/a");
  passSeconds(15);
  respondAlways(fail);
  await get("/a");
  await expect.poll(() => observed.some(({ kind }) => kind === "refresh-failed")).toBe(true);
  for (let i = 0; i < 5; i++) expect((await get("/a")).body).toBe("old");
  expect(requestCount()).toBe(2);
  passSeconds(1);
  expect((await get("/a")).body).toBe("old");
  await expect.poll(requestCount).toBe(3);
});

test.each([500, 502, 503, 504])(
  "with stale-if-error, the stale response is sent instead of a %s (RFC 5861, 4)",
  async (status) => {
    const { get, respondAlways, passSeconds } = await setUp();
    respondAlways((request) => request.respond(200, ["Cache-Control", "max-age=10, stale-if-error=10"], "old"));
    await get("/a");
    passSeconds(19);
    respondAlways((request) => request.respond(status, [], "error"));
    expect(await get("/a")).toMatchObject({
      status: 200,
      body: "old",
      headers: { "cache-status": "test; hit; ttl=-9" },
    });
    passSeconds(1);
    expect((await get("/a")).status).toBe(status);
  },
);

test("with stale-if-error, all waiting clients get the stale response if the origin does not respond", async () => {
  const { send, get, respondAlways, passSeconds } = await setUp();
  respondAlways((request) => request.respond(200, ["Cache-Control", "max-age=10, stale-if-error=10"], "old"));
  await get("/a");
  passSeconds(15);
  let requests = 0;
  respondAlways((request) => {
    requests++;
    setTimeout(() => request.response.destroy(), 50);
  });
  const sent = [send("/a"), send("/a"), send("/a")];
  const responses = await Promise.all(sent.map(({ response }) => response));
  expect(responses.map(({ status, body }) => [status, body])).toEqual(Array.from({ length: 3 }, () => [200, "old"]));
  expect(requests).toBe(1);
});

test.each(["must-revalidate", "proxy-revalidate", "s-maxage=10", "no-cache"])(
  "with %s no stale response is sent, despite other directives (RFC 9111, 4.2.4)",
  async (directive) => {
    const { get, respondAlways, passSeconds } = await setUp();
    const cacheControl = `max-age=10, stale-if-error=100, stale-while-revalidate=100, ${directive}`;
    respondAlways((request) => request.respond(200, ["Cache-Control", cacheControl, "ETag", '"a"'], "old"));
    await get("/a");
    passSeconds(11);
    respondAlways((request) => request.response.destroy());
    expect((await get("/a")).status).toBe(502);
  },
);

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

test.each([[[]], [["Vary", "Accept-Encoding"]]])(
  "a 304 with fewer names in Vary (%j) makes a response that is for one client match no other one",
  async (vary) => {
    const { get, respondAlways, passSeconds } = await setUp();
    respondAlways(({ headers: { token = "none", "if-none-match": tag }, respond }) => {
      const head = ["Cache-Control", "max-age=10", "ETag", `"${String(token)}"`];
      if (tag === `"${String(token)}"`) return respond(304, [...head, ...vary]);
      respond(200, [...head, "Vary", "Token"], `for ${String(token)}`);
    });
    await get("/a", { Token: "ada" });
    for (let round = 0; round < 3; round++) {
      passSeconds(10);
      expect((await get("/a", { Token: "ada" })).headers["cache-status"]).toContain("fwd-status=304");
      expect((await get("/a")).body).toBe("for none");
      expect((await get("/a", { Token: "grace" })).body).toBe("for grace");
    }
  },
);

test.each([
  ["without an ETag", ["Last-Modified", "Fri, 20 Nov 2026 23:00:00 GMT"]],
  ["with an ETag that does not change", ["ETag", '"a"']],
])("a response %s that a change has removed does not come back by a validation that waited", async (_, validator) => {
  const { get, nextRequest, cache, passSeconds } = await setUp();
  const head = ["Cache-Control", "max-age=10", ...validator];
  const first = get("/a");
  (await nextRequest()).respond(200, head, "old");
  await first;
  passSeconds(10);
  const validating = get("/a");
  const validation = await nextRequest();
  const waiting = get("/a");
  // Until it has joined the validation.
  await sleep(100);
  cache.invalidateOrigin("origin");
  validation.respond(304, head);
  const { headers, respond } = await nextRequest();
  expect([headers["if-none-match"], headers["if-modified-since"]]).toEqual([undefined, undefined]);
  respond(200, head, "new");
  await validating;
  expect((await waiting).body).toBe("new");
  expect((await get("/a")).body).toBe("new");
});

test("a HEAD response or a 304 without the ETag does not confirm a response that a write has invalidated", async () => {
  for (const method of ["HEAD", "GET"]) {
    const { get, cache, respondAlways } = await setUp();
    const head = ["Cache-Control", "max-age=10", "Content-Length", "2"];
    respondAlways(({ respond }) => respond(200, [...head, "ETag", '"1"', "Cache-Groups", '"g"'], "v1"));
    await get("/a");
    cache.invalidate({ groups: ["g"] });
    respondAlways(({ respond }) => (method === "HEAD" ? respond(200, head) : respond(304, head.slice(0, 2))));
    await get("/a", {}, method);
    respondAlways(({ respond }) => respond(200, [...head, "ETag", '"2"'], "v2"));
    expect((await get("/a")).body).toBe("v2");
  }
});
