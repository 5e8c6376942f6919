import { expect, test } from "vitest";
import { createEntityCache, type SubgraphCache } from "./entity-cache.ts";

// Without a feed; gateway/test/entity-cache.test.ts has one.

let nowMs = 0;

function open(bytesMax = 1_000_000): SubgraphCache {
  nowMs = 50_000;
  const cache = createEntityCache({
    ...{ services: new Set(["THINGS"]), bytesMax, feedUrls: {}, feedKey: "", requestTimeoutMs: 1_000 },
    ...{ nameOf: (subgraph) => subgraph.toUpperCase(), observe: () => {}, nowMs: () => nowMs },
  }).of("things");
  if (!cache) throw new Error("The cache is on.");
  return cache;
}

const public5 = { key: "k", data: { a: 1 }, groups: [], seconds: 5, needsFeed: false };

test("a result is used until its freshness ends, counted from when its request was sent", () => {
  const cache = open();
  const fill = cache.startFill(0);
  nowMs += 1_000;
  cache.put(fill, public5);
  nowMs += 500;
  expect(cache.find("k", 0)).toEqual({ data: { a: 1 }, groups: [], seconds: 3 });
  nowMs += 3_499;
  expect(cache.find("k", 0)?.seconds).toBe(0);
  nowMs += 1;
  expect(cache.find("k", 0)).toBeUndefined();
});

test("without a feed, a write of this process makes the results from before it unusable", () => {
  const cache = open();
  cache.put(cache.startFill(3), public5);
  expect(cache.find("k", 3)).toBeDefined();
  expect(cache.find("k", 4)).toBeUndefined();
});

test("a result that needs a feed, or is in too many groups, is not stored", () => {
  const cache = open();
  cache.put(cache.startFill(0), { ...public5, needsFeed: true });
  expect(cache.find("k", 0)).toBeUndefined();
  cache.put(cache.startFill(0), { ...public5, groups: Array.from({ length: 33 }, (_, i) => `g${i}`) });
  expect(cache.find("k", 0)).toBeUndefined();
});

test("a mark lasts ten seconds, and ends when the result is stored", () => {
  const cache = open();
  for (const key of ["k", "m"]) cache.mark(key);
  nowMs += 9_999;
  expect([cache.isMarked("k"), cache.isMarked("m"), cache.isMarked("n")]).toEqual([true, true, false]);
  cache.put(cache.startFill(0), public5);
  expect([cache.isMarked("k"), cache.isMarked("m")]).toEqual([false, true]);
  nowMs += 1;
  expect(cache.isMarked("m")).toBe(false);
});

test("a text is shortened to the same text each time, and to no other's", () => {
  const cache = open();
  const [a, b] = [cache.toShortText("a"), cache.toShortText("b")];
  expect(a).not.toBe(b);
  expect([cache.toShortText("a"), cache.toShortText("b")]).toEqual([a, b]);
});

test("after a text was evicted, its short text is never used again", () => {
  const cache = open(10_000);
  const shorts = Array.from({ length: 100 }, (_, i) => cache.toShortText(`text ${i}`));
  const again = Array.from({ length: 100 }, (_, i) => cache.toShortText(`text ${i}`));
  expect(new Set([...shorts, ...again]).size).toBe(200);
});
