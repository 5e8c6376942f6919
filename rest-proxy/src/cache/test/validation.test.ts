import { expect, test } from "vitest";
import { setUp } from "./testing.ts";

test("a stale answer is validated with its ETag, and a 304 makes it fresh again (RFC 9111, 4.3)", async () => {
  const { get, always, passSeconds, askedCount } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=10", "ETag", '"a"', "X-Kept", "1"], "hello"));
  await get("/a");
  passSeconds(10);
  always((asked) => asked.answer(304, ["Cache-Control", "max-age=20", "ETag", '"a"', "X-New", "1"]));
  const validated = await get("/a", { "If-None-Match": '"other"' });
  expect(validated).toMatchObject({ status: 200, body: "hello", headers: { "x-kept": "1", "x-new": "1", age: "0" } });
  expect(validated.headers["cache-status"]).toBe("test; fwd=stale; fwd-status=304; stored");
  passSeconds(19);
  expect((await get("/a")).headers["cache-status"]).toBe("test; hit; ttl=1");
  expect(askedCount()).toBe(2);
});

test("the origin sees the stored ETag, not the client's", async () => {
  const { get, always, passSeconds } = await setUp();
  const seen: unknown[] = [];
  always((asked) => {
    seen.push(asked.headers["if-none-match"]);
    asked.answer(200, ["Cache-Control", "max-age=10", "ETag", '"a"'], "hello");
  });
  await get("/a", { "If-None-Match": '"mine"' });
  passSeconds(10);
  await get("/a", { "If-None-Match": '"mine"' });
  expect(seen).toEqual([undefined, '"a"']);
});

test("a new answer takes the stale one's place, and one that must not be kept leaves none", async () => {
  const { get, always, passSeconds } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=10, stale-if-error=100", "ETag", '"a"'], "old"));
  await get("/a");
  passSeconds(10);
  always((asked) => asked.answer(404, ["Cache-Control", "no-store"], "gone"));
  expect((await get("/a")).body).toBe("gone");
  always((asked) => asked.response.destroy());
  expect((await get("/a")).status).toBe(502);
});

test("a 304 that speaks of something else freshens nothing (RFC 9111, 4.3.4)", async () => {
  const { get, always, passSeconds, askedCount } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=10", "ETag", '"a"'], "hello"));
  await get("/a");
  passSeconds(10);
  always((asked) => asked.answer(304, ["Cache-Control", "max-age=100", "ETag", '"b"']));
  expect(await get("/a")).toMatchObject({ status: 200, body: "hello", headers: { etag: '"a"' } });
  await get("/a");
  expect(askedCount()).toBe(3);
});

test("what may be stale while it is renewed is given at once, and renewed once (RFC 5861, 3)", async () => {
  const { get, asked, always, passSeconds, askedCount } = await setUp();
  const first = get("/a");
  (await asked()).answer(200, ["Cache-Control", "max-age=10, stale-while-revalidate=10", "ETag", '"a"'], "old");
  await first;
  passSeconds(15);
  const stale = await Promise.all([get("/a"), get("/a"), get("/a")]);
  expect(stale.map(({ body, headers }) => [body, headers["cache-status"]])).toEqual(
    Array.from({ length: 3 }, () => ["old", "test; hit; ttl=-5"]),
  );
  (await asked()).answer(200, ["Cache-Control", "max-age=10"], "new");
  await expect.poll(async () => (await get("/a")).body).toBe("new");
  expect(askedCount()).toBe(2);
  passSeconds(30);
  always((asked) => asked.answer(200, [], "newest"));
  expect((await get("/a")).body).toBe("newest");
});

test.each([
  ["public, max-age=10", "new"],
  ["max-age=10", "asked again"],
])("after a refresh for a client with a token that brings %s others get what is %s", async (cacheControl, body) => {
  const { get, asked, passSeconds, always } = await setUp();
  const first = get("/a");
  (await asked()).answer(200, ["Cache-Control", "max-age=10, stale-while-revalidate=100"], "old");
  await first;
  passSeconds(15);
  await get("/a", { Authorization: "Bearer x" });
  const refresh = await asked();
  expect(refresh.headers.authorization).toBe("Bearer x");
  always((asked) => asked.answer(200, ["Cache-Control", "no-store"], "asked again"));
  refresh.answer(200, ["Cache-Control", cacheControl], "new");
  await expect.poll(async () => (await get("/a")).body).toBe(body);
});

test("a refresh that fails pauses, and the stale answer serves on", async () => {
  const { get, always, passSeconds, askedCount, observed } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=10, stale-while-revalidate=100"], "old"));
  await get("/a");
  passSeconds(15);
  always((asked) => asked.response.destroy());
  await get("/a");
  await expect.poll(() => observed.some(({ kind }) => kind === "refresh-failed")).toBe(true);
  expect((await get("/a")).body).toBe("old");
  expect(askedCount()).toBe(2);
  passSeconds(1);
  expect((await get("/a")).body).toBe("old");
  await expect.poll(askedCount).toBe(3);
});

test.each([500, 502, 503, 504])("what may be stale on an error stands in for a %s (RFC 5861, 4)", async (status) => {
  const { get, always, passSeconds } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=10, stale-if-error=10"], "old"));
  await get("/a");
  passSeconds(19);
  always((asked) => asked.answer(status, [], "error"));
  expect(await get("/a")).toMatchObject({ status: 200, body: "old", headers: { "cache-status": "test; hit; ttl=-9" } });
  passSeconds(1);
  expect((await get("/a")).status).toBe(status);
});

test("it stands in for an origin that does not answer, too, and for all who wait", async () => {
  const { send, get, always, passSeconds } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "max-age=10, stale-if-error=10"], "old"));
  await get("/a");
  passSeconds(15);
  let seen = 0;
  always((asked) => {
    seen++;
    setTimeout(() => asked.response.destroy(), 50);
  });
  const sent = [send("/a"), send("/a"), send("/a")];
  const answers = await Promise.all(sent.map(({ answer }) => answer));
  expect(answers.map(({ status, body }) => [status, body])).toEqual(Array.from({ length: 3 }, () => [200, "old"]));
  expect(seen).toBe(1);
});

test.each(["must-revalidate", "proxy-revalidate", "s-maxage=10", "no-cache"])(
  "with %s nothing stale is given, whatever else is said (RFC 9111, 4.2.4)",
  async (directive) => {
    const { get, always, passSeconds } = await setUp();
    const cacheControl = `max-age=10, stale-if-error=100, stale-while-revalidate=100, ${directive}`;
    always((asked) => asked.answer(200, ["Cache-Control", cacheControl, "ETag", '"a"'], "old"));
    await get("/a");
    passSeconds(11);
    always((asked) => asked.response.destroy());
    expect((await get("/a")).status).toBe(502);
  },
);
