import { expect, test } from "vitest";
import { setUp, type SetUp } from "./testing.ts";

/* A client that has the response to its write reads what it wrote: its reads join no origin request that was sent earlier. */

const fresh = ["Cache-Control", "max-age=60"];
const stale = ["Cache-Control", "max-age=1, stale-while-revalidate=100", "ETag", '"a"'];

/** Sends a request and waits until the origin has it. */
async function arrive({ send, asked }: SetUp, path: string, method = "GET") {
  const sent = send(path, {}, method);
  return { ...sent, atOrigin: await asked() };
}

async function write(all: SetUp, path: string): Promise<void> {
  const { atOrigin, answer } = await arrive(all, path, "PUT");
  atOrigin.answer(200, []);
  await answer;
}

type Arrived = Awaited<ReturnType<typeof arrive>>;

/** How a write settles. */
type Settle = (writing: Arrived, all: SetUp) => Promise<unknown>;
const settlings: readonly (readonly [string, Settle])[] = [
  ...[200, 412, 500, 503].map((status) => [`was answered with ${status}`, settleWith(status)] as const),
  ["got no response", ({ atOrigin, answer }) => (atOrigin.response.destroy(), answer)],
  ["lost its client", ({ leave }, { left }) => (leave(), left(1))],
];

function settleWith(status: number): Settle {
  return ({ atOrigin, answer }: Arrived) => (atOrigin.answer(status, []), answer);
}

test.each(settlings)(
  "a read joins none that was sent before a write of another resource that %s",
  async (_, settle) => {
    const all = await setUp();
    const writing = await arrive(all, "/b", "PUT");
    const before = await arrive(all, "/a");
    await settle(writing, all);
    const after = await arrive(all, "/a");
    after.atOrigin.answer(200, fresh, "new");
    before.atOrigin.answer(200, fresh, "old");
    expect([(await after.answer).body, (await before.answer).body]).toEqual(["new", "old"]);
  },
);

test("reads sent after a write join each other while one sent before it is in flight", async () => {
  const all = await setUp();
  await arrive(all, "/a");
  await write(all, "/b");
  const after = await arrive(all, "/a");
  const joined = all.send("/a");
  await all.received(4);
  after.atOrigin.answer(200, fresh, "new");
  expect(await Promise.all([after.answer, joined.answer])).toMatchObject([{ body: "new" }, { body: "new" }]);
  expect(all.askedCount()).toBe(3);
});

test("a read joins one across a write in flight, and across one to another origin", async () => {
  const all = await setUp();
  const writing = await arrive(all, "/b", "PUT");
  const before = await arrive(all, "/a");
  await write(all, "/other/b");
  const joined = all.send("/a");
  await all.received(4);
  before.atOrigin.answer(200, fresh, "old");
  expect((await joined.answer).body).toBe("old");
  writing.atOrigin.answer(200, []);
  expect(all.askedCount()).toBe(3);
});

test("a response to a read sent before a write that got no response is not stored", async () => {
  const all = await setUp();
  const writing = await arrive(all, "/b", "PUT");
  const before = await arrive(all, "/a");
  writing.atOrigin.response.destroy();
  await writing.answer;
  before.atOrigin.answer(200, fresh, "old");
  await before.answer;
  expect((await arrive(all, "/a")).atOrigin.url).toBe("/a");
});

test("a 304 to a request sent before a write that got no response does not refresh what is stored", async () => {
  const all = await setUp();
  const writing = await arrive(all, "/b", "PUT");
  const first = await arrive(all, "/a");
  first.atOrigin.answer(200, stale, "old");
  await first.answer;
  all.passSeconds(2);
  await all.get("/a");
  const refresh = await all.asked();
  writing.atOrigin.response.destroy();
  await writing.answer;
  refresh.answer(304, ["ETag", '"a"', "Cache-Control", "max-age=100"]);
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
    before.atOrigin.answer(200, fresh, "list");
    await before.answer;
    expect((await all.get("/a")).headers["cache-status"]).toMatch(/hit/);
  },
);

test("a response to a read sent before a write does not replace one to a read sent after it", async () => {
  const all = await setUp();
  const before = await arrive(all, "/a");
  await write(all, "/b");
  const after = await arrive(all, "/a");
  after.atOrigin.answer(200, fresh, "new");
  await after.answer;
  before.atOrigin.answer(200, fresh, "old");
  await before.answer;
  expect((await all.get("/a")).body).toBe("new");
});

test("a background refresh in flight is not repeated because of a write", async () => {
  const all = await setUp();
  const first = await arrive(all, "/a");
  first.atOrigin.answer(200, stale, "old");
  await first.answer;
  all.passSeconds(2);
  await all.get("/a");
  await all.asked();
  await write(all, "/b");
  expect((await all.get("/a")).body).toBe("old");
  expect((await arrive(all, "/c")).atOrigin.url).toBe("/c");
  expect(all.askedCount()).toBe(4);
});
