import { expect, test } from "vitest";
import { createEntityStore, type EntityStore, type NewResult } from "./entity-store.ts";

test("a group removes its results of its service only", () => {
  const store = createEntityStore({ bytesMax: 100_000, onEvicted: () => {} });
  store.put(result("a", { groups: ["g", "h"] }));
  store.put(result("b", { groups: ["h"] }));
  store.put(result("c", { groups: ["g"], origin: "other" }));
  store.deleteGroup("g", "things");
  expect(keysOf(store)).toEqual(["b", "c"]);
  store.deleteOrigin("other");
  expect(keysOf(store)).toEqual(["b"]);
});

test("a replaced result leaves the groups of its predecessor", () => {
  const store = createEntityStore({ bytesMax: 100_000, onEvicted: () => {} });
  store.put(result("a", { groups: ["g"] }));
  store.put(result("a", { groups: ["h"] }));
  store.deleteGroup("g", "things");
  expect(keysOf(store)).toEqual(["a"]);
  store.deleteGroup("h", "things");
  expect(keysOf(store)).toEqual([]);
});

test("the estimated bytes are limited: the results that were not used are evicted", () => {
  let evicted = 0;
  const store = createEntityStore({ bytesMax: 10_000, onEvicted: () => void evicted++ });
  const data = { text: "x".repeat(900) };
  for (const key of ["a", "b", "c", "d"]) store.put(result(key, { data }));
  store.find("a");
  store.put(result("e", { data }));
  expect([keysOf(store), evicted]).toEqual([["a", "c", "d", "e"], 1]);
  expect(store.size().weight).toBeGreaterThan(8_000);
  expect(store.size().weight).toBeLessThanOrEqual(10_000);
  store.put(result("huge", { data: { text: "x".repeat(10_000) } }));
  expect([keysOf(store), evicted]).toEqual([["a", "c", "d", "e"], 1]);
});

test("bigints and deeply nested values are stored", () => {
  const store = createEntityStore({ bytesMax: 1_000_000, onEvicted: () => {} });
  store.put(result("a", { data: { number: 9_007_199_254_740_993n } }));
  store.put(result("b", { data: { value: JSON.parse("[".repeat(20_000) + "]".repeat(20_000)) } }));
  expect(keysOf(store)).toEqual(["a", "b"]);
});

function result(key: string, o: Partial<NewResult> = {}): NewResult {
  const about = {
    origin: "things",
    data: {},
    groups: ["g"],
    sentAtMs: 0,
    freshMs: 1,
    staleIfErrorMs: 0,
    needsFeed: true,
    settledWrites: 0,
  };
  return { key, ...about, ...o };
}

function keysOf(store: EntityStore): readonly string[] {
  return ["a", "b", "c", "d", "e", "huge"].filter((key) => store.find(key));
}
