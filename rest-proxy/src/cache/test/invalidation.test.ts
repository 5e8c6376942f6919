import { expect, test } from "vitest";
import { setUp, type SetUp } from "./testing.ts";

const fresh = ["Cache-Control", "max-age=60, stale-while-revalidate=600, stale-if-error=6000"];

/** Stores the responses of these paths; the origin responds to writes with `written`. */
async function withStored(paths: readonly string[], written: readonly [number, readonly string[]]): Promise<SetUp> {
  const all = await setUp();
  all.respondAlways((request) => {
    if (request.method === "GET")
      request.respond(200, [...fresh, "Cache-Groups", `"${request.url.slice(1)}", "all"`], "old");
    else request.respond(...written);
  });
  for (const path of paths) await all.get(path);
  return all;
}

async function isStored({ get }: SetUp, path: string): Promise<boolean> {
  return /hit/.test(String((await get(path)).headers["cache-status"]));
}

test.each(["POST", "PUT", "PATCH", "DELETE", "M-SEARCH"])(
  "%s invalidates the stored response (RFC 9111, 4.4)",
  async (method) => {
    const all = await withStored(["/a", "/b"], [200, []]);
    await all.get("/a", {}, method);
    expect([await isStored(all, "/a"), await isStored(all, "/b")]).toEqual([false, true]);
  },
);

test.each([
  ["GET", 200, true],
  ["OPTIONS", 200, true],
  ["PUT", 303, false],
  ["PUT", 404, true],
  ["PUT", 500, true],
])("after %s with status %s the response is still stored: %s", async (method, status, expected) => {
  const all = await withStored(["/a"], [status, []]);
  await all.get("/a", {}, method);
  expect(await isStored(all, "/a")).toBe(expected);
});

test("a write without a response invalidates: it may have happened", async () => {
  const all = await setUp();
  all.respondAlways((request) =>
    request.method === "GET" ? request.respond(200, fresh, "old") : request.response.destroy(),
  );
  await all.get("/a");
  expect((await all.get("/a", {}, "PUT")).status).toBe(502);
  expect(await isStored(all, "/a")).toBe(false);
});

test("Location and Content-Location are invalidated too, if they are of this origin", async () => {
  const all = await withStored(["/a", "/b", "/c", "/d"], [201, ["Location", "/b", "Content-Location", "/c"]]);
  await all.get("/x", {}, "POST");
  const stored = await Promise.all(["/a", "/b", "/c", "/d"].map((path) => isStored(all, path)));
  expect(stored).toEqual([true, false, false, true]);
});

test("an unsafe request invalidates the group that its response names, and no other group (RFC 9875, 2.2.1 and 3)", async () => {
  const all = await withStored(["/a", "/b"], [200, ["Cache-Group-Invalidation", '"a"']]);
  await all.get("/x", {}, "POST");
  expect([await isStored(all, "/a"), await isStored(all, "/b")]).toEqual([false, true]);
});

test("a group in the response to a safe request is ignored (RFC 9875, 3)", async () => {
  const all = await withStored(["/a"], [200, ["Cache-Group-Invalidation", '"a"']]);
  await all.get("/x", {}, "OPTIONS");
  expect(await isStored(all, "/a")).toBe(true);
});

test("an invalidated response is never sent as stale", async () => {
  const all = await withStored(["/a"], [200, []]);
  all.passSeconds(100);
  all.cache.invalidate({ groups: ["all"] });
  all.respondAlways((request) => request.response.destroy());
  expect((await all.get("/a")).status).toBe(502);
});

test("a response invalidated during a request to the origin is not sent instead of its error", async () => {
  const all = await withStored(["/a"], [200, []]);
  all.passSeconds(661);
  all.respondAlways((request) => {
    all.cache.invalidate({ keys: ["/a"] });
    request.respond(503, []);
  });
  expect((await all.get("/a")).status).toBe(503);
});

test.each([
  ["by its key", { keys: ["/a"] }],
  ["by its group", { groups: ["g"] }],
])("a read sent before an invalidation %s is neither stored nor joined after it", async (_how, what) => {
  const { send, nextRequest, cache, get, requestCount } = await setUp();
  const before = send("/a");
  const older = await nextRequest();
  cache.invalidate(what);
  const after = send("/a");
  const newer = await nextRequest();
  newer.respond(200, [...fresh, "Cache-Groups", '"g"'], "new");
  expect((await after.response).body).toBe("new");
  older.respond(200, [...fresh, "Cache-Groups", '"g"'], "old");
  expect((await before.response).body).toBe("old");
  expect((await get("/a")).body).toBe("new");
  expect(requestCount()).toBe(2);
});

test("a refresh sent before an invalidation does not store the old response again", async () => {
  const all = await setUp();
  const first = all.get("/a");
  (await all.nextRequest()).respond(
    200,
    ["Cache-Control", "max-age=1, stale-while-revalidate=100", "ETag", '"a"'],
    "old",
  );
  await first;
  all.passSeconds(2);
  await all.get("/a");
  const refresh = await all.nextRequest();
  all.cache.invalidate({ keys: ["/a"] });
  refresh.respond(304, ["ETag", '"a"', "Cache-Control", "max-age=100"]);
  await expect.poll(() => all.observed.some(({ kind }) => kind === "revalidated")).toBe(true);
  all.respondAlways((request) => request.respond(200, fresh, "new"));
  expect((await all.get("/a")).body).toBe("new");
});

test("after the response to a write, no read returns the state before it", async () => {
  const { send, get, respondAlways } = await setUp();
  let version = 0;
  respondAlways((request) => {
    if (request.method === "PUT") version++;
    const body = String(version);
    // Reads are delayed, so that many are in flight during each write.
    const respond = () => request.respond(200, ["Cache-Control", "max-age=60"], body);
    if (request.method === "PUT") respond();
    else setTimeout(respond, version % 3);
  });
  for (let round = 1; round <= 100; round++) {
    const reads = Array.from({ length: 4 }, () => send("/a"));
    const written = Number((await get("/a", {}, "PUT")).body);
    const read = Number((await get("/a")).body);
    expect(read).toBe(written);
    await Promise.all(reads.map(({ response }) => response));
  }
});
