import { expect, test } from "vitest";
import { setUp } from "./testing.ts";

const fresh = ["Cache-Control", "max-age=60"];

test("concurrent identical misses cause one request to the origin", async () => {
  const { send, nextRequest, requestCount, received } = await setUp();
  const first = send("/a");
  const pending = await nextRequest();
  const others = Array.from({ length: 20 }, () => send("/a"));
  await received(21);
  pending.respond(200, fresh, "hello");
  const responses = await Promise.all([first, ...others].map(({ response }) => response));
  expect(responses.every(({ body }) => body === "hello")).toBe(true);
  expect(responses.filter(({ headers }) => String(headers["cache-status"]).endsWith("; collapsed"))).not.toHaveLength(
    0,
  );
  expect(requestCount()).toBe(1);
});

test("clients that waited for a private response send their own requests, and later clients do not wait", async () => {
  const { send, nextRequest, get, requestCount } = await setUp();
  const sent = [send("/a"), send("/a"), send("/a")];
  (await nextRequest()).respond(200, ["Cache-Control", "private"], "1");
  const alone = [await nextRequest(), await nextRequest()];
  alone.forEach((pending, at) => pending.respond(200, ["Cache-Control", "private"], String(at + 2)));
  const bodies = (await Promise.all(sent.map(({ response }) => response))).map(({ body }) => body);
  expect(bodies.sort()).toEqual(["1", "2", "3"]);
  const later = [get("/a"), get("/a")];
  const further = [await nextRequest(), await nextRequest()];
  expect(requestCount()).toBe(5);
  for (const pending of further) pending.respond(200, fresh, "shared");
  await Promise.all(later);
  expect((await get("/a")).body).toBe("shared");
});

test("a client that waited for the request of one that is refused sends its own", async () => {
  const { send, nextRequest, received } = await setUp();
  const refused = send("/a", { "Is-Refused": "1" });
  const pending = await nextRequest();
  const other = send("/a");
  await received(2);
  pending.respond(200, fresh, "refused");
  (await nextRequest()).respond(200, fresh, "own");
  expect((await other.response).body).toBe("own");
  expect((await refused.response).status).toBe(502);
});

test("a cookie reaches only the client for which the origin sent it", async () => {
  const { send, get, nextRequest, received } = await setUp();
  const head = (name: string) => [
    "Cache-Control",
    "public, max-age=60",
    "ETag",
    '"1"',
    "Set-Cookie",
    `session=${name}`,
  ];
  const clients = [send("/a"), send("/a")];
  await received(2);
  (await nextRequest()).respond(200, head("first"), "a");
  (await nextRequest()).respond(200, head("second"), "a");
  const responses = await Promise.all(clients.map(({ response }) => response));
  expect(responses.map(({ headers }) => headers["set-cookie"])).toEqual([["session=first"], ["session=second"]]);
  const third = get("/a");
  (await nextRequest()).respond(200, ["Cache-Control", "max-age=60", "ETag", '"1"'], "a");
  expect((await third).headers["set-cookie"]).toBeUndefined();
  expect((await get("/a")).headers["cache-status"]).toContain("hit");
});

test("a cookie of a 304 reaches only the client that caused it", async () => {
  const { get, nextRequest, passSeconds } = await setUp();
  const head = ["Cache-Control", "max-age=1", "ETag", '"1"'];
  const first = get("/a");
  (await nextRequest()).respond(200, head, "a");
  await first;
  passSeconds(2);
  const second = get("/a");
  (await nextRequest()).respond(304, [...head, "Set-Cookie", "session=second"]);
  expect((await second).headers["set-cookie"]).toEqual(["session=second"]);
  const third = get("/a");
  (await nextRequest()).respond(200, head, "a");
  expect((await third).headers["set-cookie"]).toBeUndefined();
});

test("a private response to a token does not end coalescing for anonymous clients", async () => {
  const { get, send, nextRequest, requestCount, received } = await setUp();
  const mine = get("/a", { Authorization: "Bearer x" });
  (await nextRequest()).respond(200, ["Cache-Control", "private"], "mine");
  await mine;
  const others = [send("/a"), send("/a")];
  await received(3);
  (await nextRequest()).respond(200, fresh, "shared");
  expect(await Promise.all(others.map(async ({ response }) => (await response).body))).toEqual(["shared", "shared"]);
  expect(requestCount()).toBe(2);
});

test("clients that send only conditional requests do not keep a response from being stored", async () => {
  const { get, respondAlways, passSeconds } = await setUp();
  respondAlways((request) => request.respond(200, ["Cache-Control", "private"], "not yet"));
  await get("/a");
  respondAlways((request) => {
    if (request.headers["if-none-match"]) request.respond(304, [...fresh, "ETag", '"a"']);
    else request.respond(200, [...fresh, "ETag", '"a"'], "hello");
  });
  for (let time = 0; time < 4; time++) {
    expect((await get("/a", { "If-None-Match": '"a"' })).status).toBe(304);
    passSeconds(10);
  }
  expect((await get("/a")).headers["cache-status"]).toMatch(/hit/);
});

test("requests with a token are not coalesced", async () => {
  const { send, nextRequest } = await setUp();
  const sent = ["a", "b"].map((token) => send("/a", { Authorization: token }));
  for (const pending of [await nextRequest(), await nextRequest()])
    pending.respond(200, fresh, String(pending.headers.authorization));
  expect(await Promise.all(sent.map(async ({ response }) => (await response).body))).toEqual(["a", "b"]);
});

test("clients that select another variant share their own request", async () => {
  const { send, nextRequest, requestCount, received } = await setUp();
  const english = send("/a", { "Accept-Language": "en" });
  const pending = await nextRequest();
  const german = [send("/a", { "Accept-Language": "de" }), send("/a", { "Accept-Language": "de" })];
  await received(3);
  pending.respond(200, [...fresh, "Vary", "Accept-Language"], "en");
  (await nextRequest()).respond(200, [...fresh, "Vary", "Accept-Language"], "de");
  expect((await english.response).body).toBe("en");
  expect(await Promise.all(german.map(async ({ response }) => (await response).body))).toEqual(["de", "de"]);
  expect(requestCount()).toBe(2);
});

test("the request to the origin is aborted when its only client disconnects", async () => {
  const { send, nextRequest, get, respondAlways } = await setUp();
  const sent = send("/a");
  const pending = await nextRequest();
  sent.disconnect();
  await pending.closed;
  respondAlways((request) => request.respond(200, fresh, "hello"));
  expect((await get("/a")).body).toBe("hello");
});

test("when the first client disconnects, the others get the response, and it is stored", async () => {
  const { send, nextRequest, get, requestCount, received, disconnected } = await setUp();
  const first = send("/a");
  const pending = await nextRequest();
  const second = send("/a");
  await received(2);
  pending.response.writeHead(200, fresh);
  pending.response.write("hel");
  await first.head;
  first.disconnect();
  await disconnected(1);
  pending.response.end("lo");
  expect((await second.response).body).toBe("hello");
  expect((await get("/a")).body).toBe("hello");
  expect(requestCount()).toBe(1);
});

test("each client leaves at its own deadline, and the last one aborts the request to the origin", async () => {
  const { send, nextRequest } = await setUp();
  const first = send("/a", { "leaves-after": "500" });
  const pending = await nextRequest();
  const second = send("/a", { "leaves-after": "800" });
  for (const { response } of [first, second]) {
    expect(await response).toMatchObject({ status: 502, body: "Error: The client's deadline has passed." });
  }
  await pending.closed;
});

test("when the first client leaves at its deadline, the others get the response, and it is stored", async () => {
  const { send, nextRequest, get, requestCount, received } = await setUp();
  const first = send("/a", { "leaves-after": "500" });
  const pending = await nextRequest();
  const second = send("/a");
  await received(2);
  expect((await first.response).status).toBe(502);
  pending.respond(200, fresh, "hello");
  expect((await second.response).body).toBe("hello");
  expect((await get("/a")).body).toBe("hello");
  expect(requestCount()).toBe(1);
});

test("a client that disconnects while waiting for a private response causes no further request", async () => {
  const { send, nextRequest, requestCount, received, disconnected } = await setUp();
  const first = send("/a");
  const pending = await nextRequest();
  const second = send("/a");
  await received(2);
  second.disconnect();
  await disconnected(1);
  pending.respond(200, ["Cache-Control", "private"], "1");
  expect((await first.response).body).toBe("1");
  expect(requestCount()).toBe(1);
});

test("the request is aborted when all its clients have disconnected", async () => {
  const { send, nextRequest, received } = await setUp();
  const first = send("/a");
  const pending = await nextRequest();
  const second = send("/a");
  await received(2);
  first.disconnect();
  second.disconnect();
  await pending.closed;
  expect(pending.response.writableFinished).toBe(false);
});

test("a truncated response is truncated for its client, and never stored", async () => {
  const { send, nextRequest, get, respondAlways, received } = await setUp();
  const sent = send("/a");
  const pending = await nextRequest();
  const follower = send("/a");
  await received(2);
  // In chunks: only its end shows that it is incomplete.
  pending.response.writeHead(200, fresh);
  pending.response.write("hel");
  await sent.head;
  pending.response.destroy();
  await expect(sent.response).rejects.toThrow("aborted");
  expect((await follower.response).status).toBe(502);
  respondAlways((request) => request.respond(200, fresh, "hello"));
  expect((await get("/a")).body).toBe("hello");
});

test("an error of the origin is sent to all waiting clients after one request", async () => {
  const { send, nextRequest, requestCount, received } = await setUp();
  const first = send("/a");
  const pending = await nextRequest();
  const second = send("/a");
  await received(2);
  pending.response.destroy();
  expect([(await first.response).status, (await second.response).status]).toEqual([502, 502]);
  expect(requestCount()).toBe(1);
});

test("beyond backgroundMax each client sends its own request", async () => {
  const { send, nextRequest, requestCount } = await setUp({ backgroundMax: 1 });
  const first = send("/a");
  const pending = await nextRequest();
  const others = [send("/b"), send("/b")];
  const further = [await nextRequest(), await nextRequest()];
  expect(requestCount()).toBe(3);
  for (const each of [pending, ...further]) each.respond(200, fresh, each.url);
  const bodies = await Promise.all([first, ...others].map(async ({ response }) => (await response).body));
  expect(bodies).toEqual(["/a", "/b", "/b"]);
});

test("a response that is not stored because too many bodies are being received does not end coalescing for its URL", async () => {
  const { send, get, nextRequest, requestCount, received } = await setUp({ backgroundMax: 1 });
  const long = [send("/long"), send("/longer")];
  const pending = [await nextRequest(), await nextRequest()];
  for (const { response } of pending) response.writeHead(200, fresh).write("begin");
  await Promise.all(long.map(({ head }) => head));
  const alone = get("/a");
  (await nextRequest()).respond(200, fresh, "not stored");
  await alone;
  for (const { response } of pending) response.end();
  await Promise.all(long.map(({ response }) => response));
  const [first, second] = [send("/a"), send("/a")];
  await received(5);
  (await nextRequest()).respond(200, fresh, "shared");
  const bodies = await Promise.all([first, second].map(async ({ response }) => (await response).body));
  expect([...bodies, requestCount()]).toEqual(["shared", "shared", 4]);
});

test("close() aborts background refreshes", async () => {
  const { get, nextRequest, cache, passSeconds } = await setUp();
  const first = get("/a");
  (await nextRequest()).respond(200, ["Cache-Control", "max-age=1, stale-while-revalidate=100"], "old");
  await first;
  passSeconds(2);
  await get("/a");
  const refresh = await nextRequest();
  await cache.close();
  await refresh.closed;
  expect(refresh.response.writableFinished).toBe(false);
});
