import { expect, test } from "vitest";
import type { SharedCache } from "../shared-cache.ts";
import { setUp, type SetUp, staleable, withResource } from "./testing.ts";

const forbidsStale = { "forbids-stale": "yes" };

test("an invalidated response is confirmed by a 304, and then fresh again", async () => {
  const { cache, read } = await withResource();
  cache.invalidate({ groups: ["g"] });
  expect(await read()).toEqual([200, "version 1", "fwd=stale; fwd-status=304; stored"]);
  expect(await read()).toEqual([200, "version 1", expect.stringMatching(/^hit/)]);
});

test("a removed response is requested without conditions, since a 304 would prove nothing", async () => {
  const { cache, read } = await withResource();
  cache.invalidateOrigin("origin");
  expect(await read()).toEqual([200, "version 1", "fwd=uri-miss; fwd-status=200; stored"]);
});

test.each([
  ["a group", { groups: ["g"] }],
  ["a group of the origin", { groups: ["g"], origin: "origin" }],
  ["the key", { keys: ["/a"] }],
])(
  "after the invalidation of %s the state before is never sent, neither stale nor instead of an error",
  async (_, what) => {
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

test("the invalidation of another origin or its groups has no effect", async () => {
  const { cache, read } = await withResource();
  cache.invalidateOrigin("other");
  cache.invalidate({ groups: ["g"], origin: "other" });
  expect((await read())[2]).toMatch(/^hit/);
});

test.each<[string, (cache: SharedCache) => void]>([
  ["a group", (cache) => cache.invalidate({ groups: ["g"] })],
  ["an origin", (cache) => cache.invalidateOrigin("origin")],
])(
  "a response whose request was sent before the invalidation of %s is neither stored nor joined",
  async (_, invalidate) => {
    const all: SetUp = await setUp();
    const first = all.get("/a");
    const before = await all.nextRequest();
    invalidate(all.cache);
    const second = all.get("/a");
    const after = await all.nextRequest();
    after.respond(200, [...staleable, "ETag", '"2"', "Cache-Groups", '"g"'], "new");
    before.respond(200, [...staleable, "ETag", '"1"', "Cache-Groups", '"g"'], "old");
    expect([(await first).body, (await second).body]).toEqual(["old", "new"]);
    expect((await all.get("/a")).body).toBe("new");
  },
);

test("a client that demands a response from after a mark gets no earlier one; the new one is stored for all", async () => {
  const { cache, origin, read } = await withResource();
  origin.version = 2;
  const mark = cache.mark();
  expect((await read())[1]).toBe("version 1");
  expect(await read(after(mark))).toEqual([200, "version 2", "fwd=request; fwd-status=200; stored"]);
  expect(await read(after(mark))).toEqual([200, "version 2", expect.stringMatching(/^hit/)]);
  expect(await read()).toEqual([200, "version 2", expect.stringMatching(/^hit/)]);
  expect(await read(after(cache.mark()))).toEqual([200, "version 2", "fwd=request; fwd-status=304; stored"]);
});

test("a client that demands a response from after a mark, or none that is stale, gets the error of the origin", async () => {
  const { cache, origin, read, passSeconds } = await withResource();
  passSeconds(61);
  origin.fails = true;
  expect((await read(after(cache.mark())))[0]).toBe(503);
  expect((await read(forbidsStale))[0]).toBe(503);
  expect((await read())[0]).toBe(200);
});

test("clients that wait for the request of one that forbids stale responses get the stale response", async () => {
  const { cache, origin, get, respondAlways, nextRequest, received, passSeconds } = await withResource();
  passSeconds(61 + 600);
  respondAlways(undefined);
  const [first, second] = [get("/a", forbidsStale), get("/a")];
  await received(3);
  const pending = await nextRequest();
  pending.respond(503, []);
  expect([(await first).status, (await second).status]).toEqual([503, 200]);
  expect([cache.size.entries, origin.version]).toEqual([1, 1]);
});

test("a client that forbids stale responses gets the error if the request that it has joined fails", async () => {
  const { get, respondAlways, nextRequest, received, passSeconds } = await withResource();
  passSeconds(61 + 600);
  respondAlways(undefined);
  const [first, second] = [get("/a"), get("/a", forbidsStale)];
  await received(3);
  (await nextRequest()).respond(503, []);
  expect((await first).status).toBe(200);
  (await nextRequest()).respond(503, []);
  expect((await second).status).toBe(503);
});

test("a client that forbids stale responses waits for the origin instead of a refresh in the background", async () => {
  const { origin, read, passSeconds } = await withResource();
  passSeconds(61);
  origin.version = 2;
  expect((await read(forbidsStale))[1]).toBe("version 2");
});

test("a client joins only a request that was sent after its mark", async () => {
  const all = await setUp();
  const first = all.get("/a");
  const before = await all.nextRequest();
  const mark = all.cache.mark();
  const [second, third] = [all.get("/a", after(mark)), all.get("/a", after(mark))];
  const later = await all.nextRequest();
  await all.received(3);
  later.respond(200, staleable, "new");
  before.respond(200, staleable, "old");
  expect([(await first).body, (await second).body, (await third).body]).toEqual(["old", "new", "new"]);
  expect(all.requestCount()).toBe(2);
});

test("a date, which a change in the same second does not alter, does not prove that a response is from after a mark", async () => {
  const all = await setUp();
  let text = "old";
  const head = ["Cache-Control", "max-age=60", "Last-Modified", new Date(Date.UTC(2026, 10, 20)).toUTCString()];
  all.respondAlways(({ headers, respond }) =>
    headers["if-modified-since"] === undefined ? respond(200, head, text) : respond(304, head),
  );
  await all.get("/a");
  text = "new";
  const mark = all.cache.mark();
  all.passSeconds(61);
  expect((await all.get("/a")).body).toBe("old");
  expect((await all.get("/a", after(mark))).body).toBe("new");
  expect((await all.get("/a", after(mark))).headers["cache-status"]).toMatch(/^test; hit/);
});

function after(mark: number) {
  return { "sent-after": String(mark) };
}
