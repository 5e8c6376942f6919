import { expect, test } from "vitest";
import { setUp } from "./testing.ts";

const fresh = ["Cache-Control", "max-age=60", "ETag", '"a"'];

test("a fresh answer is given again without asking, with its age and what the cache did", async () => {
  const { get, always, askedCount, passSeconds } = await setUp();
  always((asked) => asked.answer(200, [...fresh, "Age", "5", "Link", "<a>", "Link", "<b>"], "hello"));
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
  expect(askedCount()).toBe(1);
});

test("what is said for one request is never stored", async () => {
  const { get, always } = await setUp();
  always((asked) => asked.answer(200, [...fresh, "Connection", "X-Hop", "X-Hop", "1"], "hello"));
  const first = await get("/a");
  const second = await get("/a");
  expect([first.headers["x-hop"], second.headers["x-hop"]]).toEqual([undefined, undefined]);
  expect(second.headers["x-own"]).toBe("1");
});

test("HEAD and conditions are answered from a stored GET", async () => {
  const { get, always, askedCount } = await setUp();
  always((asked) => asked.answer(200, [...fresh, "Content-Type", "text/x"], "hello"));
  await get("/a");
  expect(await get("/a", {}, "HEAD")).toMatchObject({ status: 200, body: "", headers: { "content-length": "5" } });
  const unchanged = await get("/a", { "If-None-Match": '"a"' });
  expect(unchanged).toMatchObject({ status: 304, body: "", headers: { etag: '"a"', "cache-control": "max-age=60" } });
  expect(unchanged.headers["content-type"]).toBeUndefined();
  expect((await get("/a", { "If-None-Match": '"b"' })).status).toBe(200);
  expect(askedCount()).toBe(1);
});

test("a client's conditions do not go with a request that others may join, and are answered here", async () => {
  const { send, asked, get } = await setUp();
  const sent = send("/a", { "If-None-Match": '"a"', "If-Modified-Since": "x" });
  const one = await asked();
  expect(one.headers).not.toHaveProperty("if-none-match");
  expect(one.headers).not.toHaveProperty("if-modified-since");
  one.answer(200, fresh, "hello");
  expect((await sent.answer).status).toBe(304);
  expect(await get("/a")).toMatchObject({ status: 200, body: "hello" });
});

test("variants are kept apart by what Vary names, and each is a hit", async () => {
  const { get, always, askedCount } = await setUp();
  always((asked) =>
    asked.answer(200, [...fresh, "Vary", "Accept-Language"], asked.headers["accept-language"] ?? "none"),
  );
  for (const language of ["en", "de", "en", "de"]) {
    expect((await get("/a", { "Accept-Language": language })).body).toBe(language);
  }
  const other = await get("/a");
  expect(other.headers["cache-status"]).toMatch(/fwd=vary-miss/);
  expect(askedCount()).toBe(3);
});

test.each([
  ["no-store", {}],
  ["private, max-age=60", {}],
  ["max-age=60", { Authorization: "Bearer x" }],
])("an answer with Cache-Control: %s to a request with %j is not kept", async (cacheControl, headers) => {
  const { get, always, askedCount } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", cacheControl], "mine"));
  await get("/a", headers);
  expect((await get("/a")).headers["cache-status"]).toMatch(/fwd=/);
  expect(askedCount()).toBe(2);
});

test("an answer that says public is kept though the request had a token", async () => {
  const { get, always, askedCount } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "public, max-age=60"], "everybody's"));
  await get("/a", { Authorization: "Bearer x" });
  expect((await get("/a")).body).toBe("everybody's");
  expect(askedCount()).toBe(1);
});

test("an answer that varies by what nobody knows is not kept (RFC 9111, 4.1)", async () => {
  const { get, always, askedCount } = await setUp();
  always((asked) => asked.answer(200, [...fresh, "Vary", "Accept, *"], "hello"));
  await get("/a");
  await get("/a");
  expect(askedCount()).toBe(2);
});

test("a Range goes to the origin where requests are obeyed, and a partial response is not stored", async () => {
  const { get, always, askedCount } = await setUp({ obeysRequests: true });
  always((asked) => {
    if (asked.headers.range) asked.answer(206, [...fresh, "Content-Range", "bytes 0-0/5"], "h");
    else asked.answer(200, fresh, "hello");
  });
  expect(await get("/a", { Range: "bytes=0-0" })).toMatchObject({ status: 206, body: "h" });
  expect((await get("/a")).body).toBe("hello");
  expect((await get("/a", { Range: "bytes=0-0" })).headers["cache-status"]).toBe("test; fwd=bypass; fwd-status=206");
  expect(askedCount()).toBe(3);
});

test.each([
  [false, 2],
  [true, 4],
])(
  "with obeysRequests %s, three requests with no-cache in a second leave %i requests to the origin",
  async (obeysRequests, count) => {
    const { get, always, askedCount } = await setUp({ obeysRequests });
    always((asked) => asked.answer(200, fresh, "hello"));
    await get("/a");
    for (let time = 0; time < 3; time++) await get("/a", { "Cache-Control": "no-cache" });
    expect(askedCount()).toBe(count);
  },
);

test("only-if-cached is answered from the store or with 504 (RFC 9111, 5.2.1.7)", async () => {
  const { get, always, askedCount } = await setUp({ obeysRequests: true });
  always((asked) => asked.answer(200, fresh, "hello"));
  expect((await get("/a", { "Cache-Control": "only-if-cached" })).status).toBe(504);
  await get("/a");
  expect((await get("/a", { "Cache-Control": "only-if-cached" })).body).toBe("hello");
  expect(askedCount()).toBe(1);
});

test("a flood of keys stays within the bytes, and what was just stored is there", async () => {
  const { get, always, observed } = await setUp({ bytesMax: 50_000 });
  always((asked) => asked.answer(200, fresh, "x".repeat(1_000)));
  for (let at = 0; at < 200; at++) await get(`/${at}`);
  expect(observed.filter(({ kind }) => kind === "evicted").length).toBeGreaterThan(150);
  expect((await get("/199")).headers["cache-status"]).toMatch(/hit/);
});

test("an answer that is longer than an entry may be passes whole and is not kept", async () => {
  const { get, always, askedCount } = await setUp({ entryBytesMax: 10_000 });
  const body = "x".repeat(50_000);
  always(({ response }) => response.writeHead(200, { "Cache-Control": "max-age=60" }).end(body));
  expect((await get("/a")).body).toBe(body);
  expect((await get("/a")).body).toBe(body);
  expect(askedCount()).toBe(2);
});
