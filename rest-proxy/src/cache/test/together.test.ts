import { expect, test } from "vitest";
import { setUp } from "./testing.ts";

const fresh = ["Cache-Control", "max-age=60"];

test("identical misses at once are one request", async () => {
  const { send, asked, askedCount, received } = await setUp();
  const first = send("/a");
  const one = await asked();
  const others = Array.from({ length: 20 }, () => send("/a"));
  await received(21);
  one.answer(200, fresh, "hello");
  const answers = await Promise.all([first, ...others].map(({ answer }) => answer));
  expect(answers.every(({ body }) => body === "hello")).toBe(true);
  expect(answers.filter(({ headers }) => String(headers["cache-status"]).endsWith("; collapsed"))).not.toHaveLength(0);
  expect(askedCount()).toBe(1);
});

test("who waits for what turns out to be private asks alone, and the next ones do not wait at all", async () => {
  const { send, asked, get, askedCount } = await setUp();
  const sent = [send("/a"), send("/a"), send("/a")];
  (await asked()).answer(200, ["Cache-Control", "private"], "1");
  const alone = [await asked(), await asked()];
  alone.forEach((one, at) => one.answer(200, ["Cache-Control", "private"], String(at + 2)));
  const bodies = (await Promise.all(sent.map(({ answer }) => answer))).map(({ body }) => body);
  expect(bodies.sort()).toEqual(["1", "2", "3"]);
  const later = [get("/a"), get("/a")];
  const two = [await asked(), await asked()];
  expect(askedCount()).toBe(5);
  for (const one of two) one.answer(200, fresh, "shared");
  await Promise.all(later);
  expect((await get("/a")).body).toBe("shared");
});

test("a private answer to a token leaves those without one together", async () => {
  const { get, send, asked, askedCount, received } = await setUp();
  const mine = get("/a", { Authorization: "Bearer x" });
  (await asked()).answer(200, ["Cache-Control", "private"], "mine");
  await mine;
  const others = [send("/a"), send("/a")];
  await received(3);
  (await asked()).answer(200, fresh, "ours");
  expect(await Promise.all(others.map(async ({ answer }) => (await answer).body))).toEqual(["ours", "ours"]);
  expect(askedCount()).toBe(2);
});

test("clients that only ever ask for changes do not keep the answer from being stored", async () => {
  const { get, always, passSeconds } = await setUp();
  always((asked) => asked.answer(200, ["Cache-Control", "private"], "not yet"));
  await get("/a");
  always((asked) => {
    if (asked.headers["if-none-match"]) asked.answer(304, [...fresh, "ETag", '"a"']);
    else asked.answer(200, [...fresh, "ETag", '"a"'], "hello");
  });
  for (let time = 0; time < 4; time++) {
    expect((await get("/a", { "If-None-Match": '"a"' })).status).toBe(304);
    passSeconds(10);
  }
  expect((await get("/a")).headers["cache-status"]).toMatch(/hit/);
});

test("requests with a token are never joined", async () => {
  const { send, asked } = await setUp();
  const sent = ["a", "b"].map((token) => send("/a", { Authorization: token }));
  for (const one of [await asked(), await asked()]) one.answer(200, fresh, String(one.headers.authorization));
  expect(await Promise.all(sent.map(async ({ answer }) => (await answer).body))).toEqual(["a", "b"]);
});

test("those who select another variant do not get this one, and share their own", async () => {
  const { send, asked, askedCount, received } = await setUp();
  const english = send("/a", { "Accept-Language": "en" });
  const one = await asked();
  const german = [send("/a", { "Accept-Language": "de" }), send("/a", { "Accept-Language": "de" })];
  await received(3);
  one.answer(200, [...fresh, "Vary", "Accept-Language"], "en");
  (await asked()).answer(200, [...fresh, "Vary", "Accept-Language"], "de");
  expect((await english.answer).body).toBe("en");
  expect(await Promise.all(german.map(async ({ answer }) => (await answer).body))).toEqual(["de", "de"]);
  expect(askedCount()).toBe(2);
});

test("when the only client goes, the origin's request is aborted", async () => {
  const { send, asked, get, always } = await setUp();
  const sent = send("/a");
  const one = await asked();
  sent.leave();
  await one.gone;
  always((asked) => asked.answer(200, fresh, "hello"));
  expect((await get("/a")).body).toBe("hello");
});

test("when the first client goes, the others get the answer, and it is kept", async () => {
  const { send, asked, get, askedCount, received, left } = await setUp();
  const first = send("/a");
  const one = await asked();
  const second = send("/a");
  await received(2);
  one.response.writeHead(200, fresh);
  one.response.write("hel");
  await first.head;
  first.leave();
  await left(1);
  one.response.end("lo");
  expect((await second.answer).body).toBe("hello");
  expect((await get("/a")).body).toBe("hello");
  expect(askedCount()).toBe(1);
});

test("who leaves while waiting for what turns out to be private is not asked for", async () => {
  const { send, asked, askedCount, received, left } = await setUp();
  const first = send("/a");
  const one = await asked();
  const second = send("/a");
  await received(2);
  second.leave();
  await left(1);
  one.answer(200, ["Cache-Control", "private"], "1");
  expect((await first.answer).body).toBe("1");
  expect(askedCount()).toBe(1);
});

test("when all have gone, the request is aborted", async () => {
  const { send, asked, received } = await setUp();
  const first = send("/a");
  const one = await asked();
  const second = send("/a");
  await received(2);
  first.leave();
  second.leave();
  await one.gone;
  expect(one.response.writableFinished).toBe(false);
});

test("an answer that breaks off is cut, and never kept", async () => {
  const { send, asked, get, always, received } = await setUp();
  const sent = send("/a");
  const one = await asked();
  const follower = send("/a");
  await received(2);
  // In chunks: only how it ends tells that it is not whole.
  one.response.writeHead(200, fresh);
  one.response.write("hel");
  await sent.head;
  one.response.destroy();
  await expect(sent.answer).rejects.toThrow("aborted");
  expect((await follower.answer).status).toBe(502);
  always((asked) => asked.answer(200, fresh, "hello"));
  expect((await get("/a")).body).toBe("hello");
});

test("an error of the origin goes to all who wait, and is asked for once", async () => {
  const { send, asked, askedCount, received } = await setUp();
  const first = send("/a");
  const one = await asked();
  const second = send("/a");
  await received(2);
  one.response.destroy();
  expect([(await first.answer).status, (await second.answer).status]).toEqual([502, 502]);
  expect(askedCount()).toBe(1);
});

test("beyond the bound of shared requests each goes its own way", async () => {
  const { send, asked, askedCount } = await setUp({ backgroundMax: 1 });
  const first = send("/a");
  const one = await asked();
  const others = [send("/b"), send("/b")];
  const two = [await asked(), await asked()];
  expect(askedCount()).toBe(3);
  for (const each of [one, ...two]) each.answer(200, fresh, each.url);
  const bodies = await Promise.all([first, ...others].map(async ({ answer }) => (await answer).body));
  expect(bodies).toEqual(["/a", "/b", "/b"]);
});

test("closing breaks off what nobody but the cache wants", async () => {
  const { get, asked, cache, passSeconds } = await setUp();
  const first = get("/a");
  (await asked()).answer(200, ["Cache-Control", "max-age=1, stale-while-revalidate=100"], "old");
  await first;
  passSeconds(2);
  await get("/a");
  const refresh = await asked();
  await cache.close();
  await refresh.gone;
  expect(refresh.response.writableFinished).toBe(false);
});
