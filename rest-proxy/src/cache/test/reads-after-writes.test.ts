import { expect, test } from "vitest";
import { setUp, type SetUp } from "./testing.ts";

/* A client that has the response to its write reads what it wrote: its reads join no origin request that was sent earlier. */

const fresh = ["Cache-Control", "max-age=60"];
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
  ...[200, 412, 500, 503].map((status) => [`was answered with ${status}`, settleWith(status)] as const),
  ["got no response", ({ atOrigin, response }) => (atOrigin.response.destroy(), response)],
  ["lost its client", ({ disconnect }, { disconnected }) => (disconnect(), disconnected(1))],
];

function settleWith(status: number): Settle {
  return ({ atOrigin, response }: Arrived) => (atOrigin.respond(status, []), response);
}

test.each(settlings)(
  "a read joins none that was sent before a write of another resource that %s",
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
