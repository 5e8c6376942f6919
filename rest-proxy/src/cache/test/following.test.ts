// SharedCacheOptions.isFollowed: whether all changes of an origin reach the cache.
import { expect, test } from "vitest";
import { setUp, withResource } from "./testing.ts";

const startMs = Date.UTC(2026, 10, 21);
const at = (seconds: number) => new Date(startMs + seconds * 1_000).toUTCString();

/** An origin whose responses are fresh for ten seconds. */
async function withShortLifetime(isFollowed: () => boolean | undefined, cacheControl = "max-age=10") {
  const all = await setUp({ isFollowed });
  all.respondAlways(({ headers, respond }) => {
    const head = ["Cache-Control", cacheControl, "ETag", '"1"', "Date", at(0), "Cache-Groups", '"g"'];
    respond(headers["if-none-match"] === '"1"' ? 304 : 200, head, "body");
  });
  const read = async (headers: Readonly<Record<string, string>> = {}) => {
    const { status, headers: received } = await all.get("/a", headers);
    const { age, date, "cache-status": cacheStatus } = received;
    return [status, age, date, String(cacheStatus).replace("test; ", "")];
  };
  await read();
  return { ...all, read };
}

test("while changes reach the cache, an entry is as if confirmed now, until a minute after its request", async () => {
  const { read, passSeconds } = await withShortLifetime(() => true);
  for (const second of [9, 30, 59]) {
    passSeconds(second - (second === 9 ? 0 : second === 30 ? 9 : 30));
    expect(await read()).toEqual([200, "0", at(second), "hit; ttl=10"]);
  }
  passSeconds(1);
  // It was confirmed one second ago.
  expect(await read()).toEqual([200, "1", at(59), "hit; ttl=9"]);
  passSeconds(9);
  expect((await read())[3]).toBe("fwd=stale; fwd-status=304; stored");
});

test("a 304 to a client has the time of the confirmation too", async () => {
  const { read, passSeconds } = await withShortLifetime(() => true);
  passSeconds(20);
  expect(await read({ "if-none-match": '"1"' })).toEqual([304, "0", at(20), "hit; ttl=10"]);
});

test("of an origin without a feed, an entry is used by its own freshness", async () => {
  const { read, passSeconds } = await withShortLifetime(() => undefined);
  passSeconds(9);
  expect(await read()).toEqual([200, "9", at(0), "hit; ttl=1"]);
  passSeconds(1);
  expect((await read())[3]).toBe("fwd=stale; fwd-status=304; stored");
});

test("an invalidated entry is not confirmed by the absence of further changes", async () => {
  const { cache, read, passSeconds } = await withShortLifetime(() => true);
  cache.invalidate({ groups: ["g"] });
  passSeconds(1);
  expect((await read())[3]).toBe("fwd=stale; fwd-status=304; stored");
});

test("a response with no-cache is validated at each use, although changes reach the cache", async () => {
  const { read } = await withShortLifetime(() => true, "no-cache");
  expect((await read())[3]).toBe("fwd=stale; fwd-status=304; stored");
});

test("when changes no longer reach the cache, the age counts from the last confirmation", async () => {
  let isFollowed = true;
  const { read, passSeconds } = await withShortLifetime(() => isFollowed);
  passSeconds(0.5);
  await read();
  isFollowed = false;
  passSeconds(1.4);
  expect(await read()).toEqual([200, "1", at(0), "hit; ttl=9"]);
});

test("while changes do not reach the cache, an entry is used for two seconds and then validated, however fresh it is", async () => {
  let isFollowed = true;
  const { origin, read, passSeconds } = await withResource({ isFollowed: () => isFollowed });
  passSeconds(30);
  expect((await read())[2]).toMatch(/^hit/);
  isFollowed = false;
  origin.version = 2;
  expect(await read()).toEqual([200, "version 2", "fwd=stale; fwd-status=200; stored"]);
  passSeconds(1);
  expect((await read())[2]).toMatch(/^hit/);
  passSeconds(2);
  expect((await read())[2]).toBe("fwd=stale; fwd-status=304; stored");
  expect((await read())[2]).toMatch(/^hit/);
});

test("while changes do not reach the cache, no stale response is sent while it is refreshed", async () => {
  let isFollowed = true;
  const all = await setUp({ isFollowed: () => isFollowed });
  let version = 1;
  const head = ["Cache-Control", "max-age=1, stale-while-revalidate=600"];
  all.respondAlways(({ respond }) => respond(200, head, `version ${version}`));
  await all.get("/a");
  version = 2;
  all.passSeconds(1);
  isFollowed = false;
  expect((await all.get("/a")).body).toBe("version 2");
  version = 3;
  all.passSeconds(1);
  isFollowed = true;
  expect((await all.get("/a")).body).toBe("version 2");
});

test("while changes do not reach the cache, an entry from the future is validated: the clock was set back", async () => {
  const { read, passSeconds } = await withResource({ isFollowed: () => false });
  passSeconds(-1);
  expect((await read())[2]).toBe("fwd=stale; fwd-status=304; stored");
});

test("while changes do not reach the cache, stale responses are sent only instead of an error", async () => {
  const { origin, read, passSeconds } = await withResource({ isFollowed: () => false });
  passSeconds(61);
  origin.version = 2;
  expect((await read())[1]).toBe("version 2");
  passSeconds(61);
  origin.fails = true;
  expect((await read()).slice(0, 2)).toEqual([200, "version 2"]);
});
