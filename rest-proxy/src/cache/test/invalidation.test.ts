import { expect, test } from "vitest";
import { setUp, type SetUp } from "./testing.ts";

const staleable = ["Cache-Control", "max-age=60, stale-while-revalidate=600, stale-if-error=6000"];
const demandsOrigin = { "demands-origin": "yes" };

/** An origin whose one resource has versions; it responds with 304 to the ETag of the current one. */
async function withResource(options: Parameters<typeof setUp>[0] = {}) {
  const all = await setUp(options);
  const origin = { version: 1, fails: false };
  all.respondAlways(({ headers, respond }) => {
    const etag = `"${origin.version}"`;
    const head = [...staleable, "ETag", etag, "Cache-Groups", '"g"'];
    if (origin.fails) return respond(503, []);
    if (headers["if-none-match"] === etag) return respond(304, head);
    respond(200, head, `version ${origin.version}`);
  });
  const read = async (headers: Readonly<Record<string, string>> = {}) => {
    const response = await all.get("/a", headers);
    return [response.status, response.body, String(response.headers["cache-status"]).replace("test; ", "")];
  };
  await read();
  return { ...all, origin, read };
}

test("an invalidated response is confirmed by a 304, and then fresh again", async () => {
  const { cache, read } = await withResource();
  cache.invalidate({ groups: ["g"] });
  expect(await read()).toEqual([200, "version 1", "fwd=stale; fwd-status=304; stored"]);
  expect(await read()).toEqual([200, "version 1", expect.stringMatching(/^hit/)]);
});

test.each([{ groups: ["g"] }, { keys: ["/a"] }, { origin: "origin" }])(
  "after the invalidation of %j the state before is never sent, neither stale nor instead of an error",
  async (what) => {
    const { cache, origin, read, passSeconds } = await withResource();
    origin.version = 2;
    cache.invalidate(what);
    origin.fails = true;
    expect((await read())[0]).toBe(503);
    passSeconds(61);
    expect((await read())[0]).toBe(503);
    origin.fails = false;
    expect(await read()).toEqual([200, "version 2", "fwd=stale; fwd-status=200; stored"]);
  },
);

test("the invalidation of an origin does not affect another origin", async () => {
  const { cache, read } = await withResource();
  cache.invalidate({ origin: "other" });
  expect((await read())[2]).toMatch(/^hit/);
});

test.each([{ groups: ["g"] }, { origin: "origin" }])(
  "a response whose request was sent before the invalidation of %j is neither stored nor joined",
  async (what) => {
    const all: SetUp = await setUp();
    const first = all.get("/a");
    const before = await all.nextRequest();
    all.cache.invalidate(what);
    const second = all.get("/a");
    const after = await all.nextRequest();
    after.respond(200, [...staleable, "ETag", '"2"', "Cache-Groups", '"g"'], "new");
    before.respond(200, [...staleable, "ETag", '"1"', "Cache-Groups", '"g"'], "old");
    expect([(await first).body, (await second).body]).toEqual(["old", "new"]);
    expect((await all.get("/a")).body).toBe("new");
  },
);

test("a client that demands the origin gets no stored response, and the new one is stored for all", async () => {
  const { origin, read } = await withResource();
  origin.version = 2;
  expect((await read())[1]).toBe("version 1");
  expect(await read(demandsOrigin)).toEqual([200, "version 2", "fwd=request; fwd-status=200; stored"]);
  expect(await read()).toEqual([200, "version 2", expect.stringMatching(/^hit/)]);
});

test("a client that demands the origin gets its error, while others get the stored response", async () => {
  const { origin, read, passSeconds } = await withResource();
  passSeconds(61);
  origin.fails = true;
  expect((await read(demandsOrigin))[0]).toBe(503);
  expect((await read())[0]).toBe(200);
});

test("a client that demands the origin does not join a request that is in flight", async () => {
  const all = await setUp();
  const first = all.get("/a");
  const before = await all.nextRequest();
  const second = all.get("/a", demandsOrigin);
  const after = await all.nextRequest();
  after.respond(200, staleable, "new");
  before.respond(200, staleable, "old");
  expect([(await first).body, (await second).body]).toEqual(["old", "new"]);
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

test("while changes do not reach the cache, stale responses are sent only instead of an error", async () => {
  const { origin, read, passSeconds } = await withResource({ isFollowed: () => false });
  passSeconds(61);
  origin.version = 2;
  expect((await read())[1]).toBe("version 2");
  passSeconds(61);
  origin.fails = true;
  expect((await read()).slice(0, 2)).toEqual([200, "version 2"]);
});
