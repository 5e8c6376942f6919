import { expect, test } from "vitest";
import { setUp, type SetUp } from "./testing.ts";

const fresh = ["Cache-Control", "max-age=60, stale-while-revalidate=600, stale-if-error=6000"];

/** Stores what is at these paths; the origin answers writes with `written`. */
async function withStored(paths: readonly string[], written: readonly [number, readonly string[]]): Promise<SetUp> {
  const all = await setUp();
  all.always((asked) => {
    if (asked.method === "GET") asked.answer(200, [...fresh, "Cache-Groups", `"${asked.url.slice(1)}", "all"`], "old");
    else asked.answer(...written);
  });
  for (const path of paths) await all.get(path);
  return all;
}

async function isStored({ get }: SetUp, path: string): Promise<boolean> {
  return /hit/.test(String((await get(path)).headers["cache-status"]));
}

test.each(["POST", "PUT", "PATCH", "DELETE", "M-SEARCH"])(
  "after %s what was stored is gone (RFC 9111, 4.4)",
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
])("after %s with %s it is still there: %s", async (method, status, expected) => {
  const all = await withStored(["/a"], [status, []]);
  await all.get("/a", {}, method);
  expect(await isStored(all, "/a")).toBe(expected);
});

test("a write without an answer may have happened, so what was stored is gone", async () => {
  const all = await setUp();
  all.always((asked) => (asked.method === "GET" ? asked.answer(200, fresh, "old") : asked.response.destroy()));
  await all.get("/a");
  expect((await all.get("/a", {}, "PUT")).status).toBe(502);
  expect(await isStored(all, "/a")).toBe(false);
});

test("Location and Content-Location are gone too, where they are of this origin", async () => {
  const all = await withStored(["/a", "/b", "/c", "/d"], [201, ["Location", "/b", "Content-Location", "/c"]]);
  await all.get("/x", {}, "POST");
  const stored = await Promise.all(["/a", "/b", "/c", "/d"].map((path) => isStored(all, path)));
  expect(stored).toEqual([true, false, false, true]);
});

test("a group is gone at a word of an unsafe request, and leads to no other group (RFC 9875, 2.2.1 and 3)", async () => {
  const all = await withStored(["/a", "/b"], [200, ["Cache-Group-Invalidation", '"a"']]);
  await all.get("/x", {}, "POST");
  expect([await isStored(all, "/a"), await isStored(all, "/b")]).toEqual([false, true]);
});

test("a group on the answer to a safe request is ignored (RFC 9875, 3)", async () => {
  const all = await withStored(["/a"], [200, ["Cache-Group-Invalidation", '"a"']]);
  await all.get("/x", {}, "OPTIONS");
  expect(await isStored(all, "/a")).toBe(true);
});

test("what was taken back never comes out again as stale", async () => {
  const all = await withStored(["/a"], [200, []]);
  all.passSeconds(100);
  all.cache.invalidate({ groups: ["all"] });
  all.always((asked) => asked.response.destroy());
  expect((await all.get("/a")).status).toBe(502);
});

test("what is taken back while the origin is asked does not stand in for its error", async () => {
  const all = await withStored(["/a"], [200, []]);
  all.passSeconds(661);
  all.always((asked) => {
    all.cache.invalidate({ keys: ["/a"] });
    asked.answer(503, []);
  });
  expect((await all.get("/a")).status).toBe(503);
});

test.each([
  ["by its key", { keys: ["/a"] }],
  ["by its group", { groups: ["g"] }],
])("a read that began before a change %s is neither stored nor joined after it", async (_how, what) => {
  const { send, asked, cache, get, askedCount } = await setUp();
  const before = send("/a");
  const old = await asked();
  cache.invalidate(what);
  const after = send("/a");
  const renewed = await asked();
  renewed.answer(200, [...fresh, "Cache-Groups", '"g"'], "new");
  expect((await after.answer).body).toBe("new");
  old.answer(200, [...fresh, "Cache-Groups", '"g"'], "old");
  expect((await before.answer).body).toBe("old");
  expect((await get("/a")).body).toBe("new");
  expect(askedCount()).toBe(2);
});

test("a refresh that began before a change does not bring the old answer back", async () => {
  const all = await setUp();
  const first = all.get("/a");
  (await all.asked()).answer(200, ["Cache-Control", "max-age=1, stale-while-revalidate=100", "ETag", '"a"'], "old");
  await first;
  all.passSeconds(2);
  await all.get("/a");
  const refresh = await all.asked();
  all.cache.invalidate({ keys: ["/a"] });
  refresh.answer(304, ["ETag", '"a"', "Cache-Control", "max-age=100"]);
  await expect.poll(() => all.observed.some(({ kind }) => kind === "revalidated")).toBe(true);
  all.always((asked) => asked.answer(200, fresh, "new"));
  expect((await all.get("/a")).body).toBe("new");
});

test("a write that is answered is never followed by what was before it", async () => {
  const { send, get, always } = await setUp();
  let version = 0;
  always((asked) => {
    if (asked.method === "PUT") version++;
    const body = String(version);
    // Reads take their time, so that many are under way across each write.
    const answer = () => asked.answer(200, ["Cache-Control", "max-age=60"], body);
    if (asked.method === "PUT") answer();
    else setTimeout(answer, version % 3);
  });
  for (let round = 1; round <= 100; round++) {
    const reads = Array.from({ length: 4 }, () => send("/a"));
    const written = Number((await get("/a", {}, "PUT")).body);
    const read = Number((await get("/a")).body);
    expect(read).toBe(written);
    await Promise.all(reads.map(({ answer }) => answer));
  }
});
