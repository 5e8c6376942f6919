import { expect, test } from "vitest";
import { setUp, type SetUp } from "./testing.ts";

const fresh = ["Cache-Control", "max-age=60"];
const staleable = ["Cache-Control", "max-age=60, stale-while-revalidate=600, stale-if-error=6000"];

/** Stores the responses of these paths; the origin responds to writes with `written`. */
async function withStored(paths: readonly string[], written: readonly [number, readonly string[]]): Promise<SetUp> {
  const all = await setUp();
  all.respondAlways((request) => {
    if (request.method === "GET")
      request.respond(200, [...staleable, "Cache-Groups", `"${request.url.slice(1)}", "all"`], "old");
    else request.respond(...written);
  });
  for (const path of paths) await all.get(path);
  return all;
}

async function isStored({ get }: SetUp, path: string): Promise<boolean> {
  return /hit/.test(String((await get(path)).headers["cache-status"]));
}

test.each([
  ["POST", 200, false],
  ["PATCH", 200, false],
  ["DELETE", 200, false],
  ["M-SEARCH", 200, false],
  ["PUT", 303, false],
  ["PUT", 404, true],
  ["PUT", 500, true],
  ["GET", 200, true],
  ["OPTIONS", 200, true],
])(
  "after %s with status %s the response is still stored: %s; others are not affected (RFC 9111, 4.4)",
  async (method, status, expected) => {
    const all = await withStored(["/a", "/b"], [status, []]);
    await all.get("/a", {}, method);
    expect([await isStored(all, "/a"), await isStored(all, "/b")]).toEqual([expected, true]);
  },
);

test("a write without a response invalidates: it may have happened", async () => {
  const all = await setUp();
  all.respondAlways((request) =>
    request.method === "GET" ? request.respond(200, staleable, "old") : request.response.destroy(),
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
  newer.respond(200, [...staleable, "Cache-Groups", '"g"'], "new");
  expect((await after.response).body).toBe("new");
  older.respond(200, [...staleable, "Cache-Groups", '"g"'], "old");
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
  all.respondAlways((request) => request.respond(200, staleable, "new"));
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
  for (let round = 1; round <= 50; round++) {
    const reads = Array.from({ length: 4 }, () => send("/a"));
    const written = Number((await get("/a", {}, "PUT")).body);
    const read = Number((await get("/a")).body);
    expect(read).toBe(written);
    await Promise.all(reads.map(({ response }) => response));
  }
});

// A client that has the response to its write reads what it wrote: its reads join no origin request that was sent earlier.

const stale = ["Cache-Control", "max-age=1, stale-while-revalidate=100", "ETag", '"a"'];

/** Sends a request and waits until the origin has it. */
async function arrive({ send, nextRequest }: SetUp, path: string, method = "GET") {
  const sent = send(path, {}, method);
  return { ...sent, atOrigin: await nextRequest() };
}

async function write(all: SetUp, path: string): Promise<void> {
  const { atOrigin, response } = await arrive(all, path, "PUT");
  atOrigin.respond(200, []);
  await response;
}

type Arrived = Awaited<ReturnType<typeof arrive>>;

/** How a write settles. */
type Settle = (writing: Arrived, all: SetUp) => Promise<unknown>;
const settlings: readonly (readonly [string, Settle])[] = [
  ...[200, 412, 503].map((status) => [`got ${status}`, settleWith(status)] as const),
  ["got no response", ({ atOrigin, response }) => (atOrigin.response.destroy(), response)],
  ["was completed without its client", completeWithoutClient],
];

async function completeWithoutClient({ disconnect, atOrigin }: Arrived, { disconnected, observed }: SetUp) {
  disconnect();
  await disconnected(1);
  atOrigin.respond(200, []);
  await expect.poll(() => observed.map(({ kind }) => kind)).toContain("bypass");
}

function settleWith(status: number): Settle {
  return ({ atOrigin, response }: Arrived) => (atOrigin.respond(status, []), response);
}

test.each(settlings)(
  "a read joins no request that was sent before a write of another resource that %s",
  async (_, settle) => {
    const all = await setUp();
    const writing = await arrive(all, "/b", "PUT");
    const before = await arrive(all, "/a");
    await settle(writing, all);
    const after = await arrive(all, "/a");
    after.atOrigin.respond(200, fresh, "new");
    before.atOrigin.respond(200, fresh, "old");
    expect([(await after.response).body, (await before.response).body]).toEqual(["new", "old"]);
  },
);

test("reads sent after a write join each other while one sent before it is in flight", async () => {
  const all = await setUp();
  await arrive(all, "/a");
  await write(all, "/b");
  const after = await arrive(all, "/a");
  const joined = all.send("/a");
  await all.received(4);
  after.atOrigin.respond(200, fresh, "new");
  expect(await Promise.all([after.response, joined.response])).toMatchObject([{ body: "new" }, { body: "new" }]);
  expect(all.requestCount()).toBe(3);
});

test("a read joins one across a write in flight, and across one to another origin", async () => {
  const all = await setUp();
  const writing = await arrive(all, "/b", "PUT");
  const before = await arrive(all, "/a");
  await write(all, "/other/b");
  const joined = all.send("/a");
  await all.received(4);
  before.atOrigin.respond(200, fresh, "old");
  expect((await joined.response).body).toBe("old");
  writing.atOrigin.respond(200, []);
  expect(all.requestCount()).toBe(3);
});

test("a response to a read sent before a write that got no response is not stored", async () => {
  const all = await setUp();
  const writing = await arrive(all, "/b", "PUT");
  const before = await arrive(all, "/a");
  writing.atOrigin.response.destroy();
  await writing.response;
  before.atOrigin.respond(200, fresh, "old");
  await before.response;
  expect((await arrive(all, "/a")).atOrigin.url).toBe("/a");
});

test("a 304 to a request sent before a write that got no response does not refresh what is stored", async () => {
  const all = await setUp();
  const writing = await arrive(all, "/b", "PUT");
  const first = await arrive(all, "/a");
  first.atOrigin.respond(200, stale, "old");
  await first.response;
  all.passSeconds(2);
  await all.get("/a");
  const refresh = await all.nextRequest();
  writing.atOrigin.response.destroy();
  await writing.response;
  refresh.respond(304, ["ETag", '"a"', "Cache-Control", "max-age=100"]);
  await expect.poll(() => all.observed.some(({ kind }) => kind === "revalidated")).toBe(true);
  expect((await arrive(all, "/a")).atOrigin.url).toBe("/a");
});

test.each(settlings.filter(([how]) => how !== "got no response"))(
  "a response to a read sent before a write of another resource that %s is stored",
  async (_, settle) => {
    const all = await setUp();
    const writing = await arrive(all, "/b", "PUT");
    const before = await arrive(all, "/a");
    await settle(writing, all);
    before.atOrigin.respond(200, fresh, "list");
    await before.response;
    expect((await all.get("/a")).headers["cache-status"]).toMatch(/hit/);
  },
);

test("a response to a read sent before a write does not replace one to a read sent after it", async () => {
  const all = await setUp();
  const before = await arrive(all, "/a");
  await write(all, "/b");
  const after = await arrive(all, "/a");
  after.atOrigin.respond(200, fresh, "new");
  await after.response;
  before.atOrigin.respond(200, fresh, "old");
  await before.response;
  expect((await all.get("/a")).body).toBe("new");
});

test("a background refresh in flight is not repeated because of a write", async () => {
  const all = await setUp();
  const first = await arrive(all, "/a");
  first.atOrigin.respond(200, stale, "old");
  await first.response;
  all.passSeconds(2);
  await all.get("/a");
  await all.nextRequest();
  await write(all, "/b");
  expect((await all.get("/a")).body).toBe("old");
  expect((await arrive(all, "/c")).atOrigin.url).toBe("/c");
  expect(all.requestCount()).toBe(4);
});
