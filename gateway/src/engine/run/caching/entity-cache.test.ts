import { describe, expect, test } from "vitest";
import { type MemoSource, memoizeBySource } from "./memoize-by-source.ts";
import type { ComposedResult } from "./whole-results.ts";
import { createEntityCache, type EntityCache } from "./entity-cache.ts";
import type { SubgraphCache } from "./subgraph-cache.ts";

// Without a feed; gateway/test/entity-cache-freshness.test.ts has one.

let nowMs = 0;

function openAll(bytesMax = 1_000_000): EntityCache {
  nowMs = 50_000;
  return createEntityCache({
    ...{ services: new Set(["THINGS"]), bytesMax, feedUrls: {}, feedKey: "", requestTimeoutMs: 1_000 },
    ...{ nameOf: (subgraph) => subgraph.toUpperCase() },
    ...{ observe: () => {}, nowMs: () => nowMs },
  });
}

function open(bytesMax?: number): SubgraphCache {
  const cache = openAll(bytesMax).of("things");
  if (!cache) throw new Error("The cache is on.");
  return cache;
}

const public5 = { key: "k", data: { a: 1 }, groups: [], seconds: 5, staleIfErrorSeconds: 60, needsFeed: false };

test("a result is used until its freshness ends, counted from when its request was sent", () => {
  const cache = open();
  const fill = cache.startFill(0);
  nowMs += 1_000;
  cache.put(fill, public5);
  nowMs += 500;
  expect(cache.find("k", 0)).toMatchObject({ stored: { data: { a: 1 }, groups: [] }, seconds: 3 });
  nowMs += 3_499;
  expect(cache.find("k", 0)?.seconds).toBe(0);
  nowMs += 1;
  expect(cache.find("k", 0)).toBeUndefined();
});

test("for a failed read, a result is used until its stale-if-error ends, counted from the end of its freshness", () => {
  const cache = open();
  cache.put(cache.startFill(3), public5);
  nowMs += 64_999;
  expect(cache.find("k", 3)).toBeUndefined();
  expect(cache.findStale("k", 3)).toMatchObject({ stored: { data: { a: 1 } }, seconds: undefined });
  expect(cache.findStale("k", 4)).toBeUndefined();
  nowMs += 1;
  expect(cache.findStale("k", 3)).toBeUndefined();
  cache.put(cache.startFill(3), { ...public5, staleIfErrorSeconds: 0 });
  nowMs += 5_000;
  expect(cache.findStale("k", 3)).toBeUndefined();
});

test("without a feed, a write of this process makes the results from before it unusable", () => {
  const cache = open();
  cache.put(cache.startFill(3), public5);
  expect(cache.find("k", 3)).toBeDefined();
  expect(cache.find("k", 4)).toBeUndefined();
});

describe("a whole result", () => {
  test("is the same object until a part of it is no longer fresh", () => {
    const cache = open();
    const result = keepWhole(cache, { a: 5, b: 2 });
    nowMs += 1_999;
    expect(cache.findWhole("body", 0)).toBe(result);
    nowMs += 1;
    expect(cache.findWhole("body", 0)).toBeUndefined();
  });

  test("is not used after a part of it was replaced", () => {
    const cache = open();
    keepWhole(cache, { a: 5, b: 5 });
    cache.put(cache.startFill(0), { ...public5, key: "b" });
    expect(cache.findWhole("body", 0)).toBeUndefined();
  });

  test("without a feed, is not used after a write of this process", () => {
    const cache = open();
    const result = keepWhole(cache, { a: 5 });
    expect(cache.findWhole("body", 1)).toBeUndefined();
    expect(cache.findWhole("body", 0)).toBe(result);
  });

  test("counts in the reported memory of the cache", () => {
    const caches = openAll();
    const cache = caches.of("things");
    if (!cache) throw new Error("The cache is on.");
    const before = caches.size();
    cache.put(cache.startFill(0), public5);
    const withPart = caches.size();
    keepWhole(cache, { k: 5 });
    expect([before.weight, withPart.entries, caches.size().entries]).toEqual([0, 1, 1]);
    expect(caches.size().weight).toBeGreaterThan(withPart.weight + 100);
  });

  test("is evicted when too much was memoized on it, or on what was memoized on it", () => {
    const cache = open(100_000);
    const result = keepWhole(cache, { a: 5 });
    expect(result.isShared).toBe(true);
    const join: MemoSource = memoizeBySource([result], {}, () => ({}));
    memoizeBySource([join], {}, () => "x".repeat(30_000));
    expect(cache.findWhole("body", 0)).toBe(result);
    memoizeBySource([join], {}, () => ({ bytes: Buffer.alloc(10_000) }));
    expect(cache.findWhole("body", 0)).toBeUndefined();
  });

  test("keeps its parts in the cache while it is used", () => {
    const cache = open(20_000);
    keepWhole(cache, { a: 5 });
    for (let i = 0; i < 60; i++) {
      nowMs += 80;
      cache.findWhole("body", 0);
      cache.put(cache.startFill(0), { ...public5, key: `other ${i}`, seconds: 1 });
    }
    expect(cache.findWhole("body", 0)).toBeDefined();
  });
});

/** Stores results with these keys, which are fresh for so many seconds, and a whole result of them. */
function keepWhole(cache: SubgraphCache, secondsOf: Readonly<Record<string, number>>): ComposedResult {
  const keys = Object.keys(secondsOf);
  for (const key of keys) cache.put(cache.startFill(0), { ...public5, key, seconds: secondsOf[key] ?? 0 });
  const result: ComposedResult = { kind: "graphql", data: {}, errors: [], replica: "entity cache" };
  cache.putWhole(
    "body",
    result,
    keys.flatMap((key) => cache.find(key, 0) ?? []),
  );
  return result;
}

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
