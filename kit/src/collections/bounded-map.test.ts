import { expect, test } from "vitest";
import { createBoundedMap } from "./bounded-map.ts";

test("an entry that was not used is evicted first", () => {
  const map = createBoundedMap<number>({ entriesMax: 2, weightMax: 100 });
  map.set("a", 1, 1);
  map.set("b", 2, 1);
  map.get("a");
  map.set("c", 3, 1);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([1, undefined, 3]);
});

test("if all entries were used, the oldest is evicted", () => {
  const map = createBoundedMap<number>({ entriesMax: 2, weightMax: 100 });
  map.set("a", 1, 1);
  map.set("b", 2, 1);
  for (const key of ["a", "b"]) map.get(key);
  map.set("c", 3, 1);
  map.get("c");
  map.set("d", 4, 1);
  expect(["a", "b", "c", "d"].filter((key) => map.get(key) !== undefined)).toHaveLength(2);
  expect(map.get("d")).toBe(4);
});

test("the size is reported, and each eviction", () => {
  let evicted = 0;
  const map = createBoundedMap<number>({ entriesMax: 2, weightMax: 100, onEvicted: () => void evicted++ });
  for (const key of ["a", "b", "c", "c"]) map.set(key, 1, 7);
  expect(map.size()).toEqual({ entries: 2, weight: 14 });
  map.delete("c");
  expect([map.size(), evicted]).toEqual([{ entries: 1, weight: 7 }, 1]);
});

test("the total weight is bounded", () => {
  const map = createBoundedMap<string>({ entriesMax: 1_000, weightMax: 100 });
  for (let i = 0; i < 500; i++) map.set(String(i), "x", 20);
  expect(Array.from({ length: 500 }, (_, i) => map.get(String(i))).filter(Boolean)).toHaveLength(5);
  expect(map.get("499")).toBe("x");
});

test("a value heavier than the bound is not stored and evicts nothing", () => {
  const map = createBoundedMap<number>({ entriesMax: 10, weightMax: 10 });
  map.set("a", 1, 2);
  map.set("b", 2, 51);
  expect([map.get("a"), map.get("b")]).toEqual([1, undefined]);
});

test("a value heavier than the bound removes the previous entry of its key", () => {
  const map = createBoundedMap<number>({ entriesMax: 10, weightMax: 10 });
  map.set("a", 1, 2);
  expect([map.set("a", 2, 51), map.get("a")]).toEqual([false, undefined]);
});

test("replacing or deleting an entry corrects the total weight", () => {
  const map = createBoundedMap<number>({ entriesMax: 10, weightMax: 6 });
  for (let i = 0; i < 5; i++) map.set("a", i, 3);
  map.set("b", 2, 3);
  expect([map.get("a"), map.get("b")]).toEqual([4, 2]);
  expect([map.delete("a"), map.delete("a")]).toEqual([true, false]);
  map.set("c", 3, 3);
  expect([map.get("b"), map.get("c")]).toEqual([2, 3]);
});

test("an entry that grows evicts others, and itself if it exceeds the bound", () => {
  const map = createBoundedMap<number>({ entriesMax: 3, weightMax: 10 });
  for (const key of ["a", "b", "c"]) map.set(key, 1, 3);
  map.addWeight("c", 2);
  expect([map.size(), map.get("a"), map.get("c")]).toEqual([{ entries: 2, weight: 8 }, undefined, 1]);
  map.addWeight("c", -4);
  expect(map.size().weight).toBe(4);
  map.set("d", 1, 3);
  map.addWeight("c", 50);
  expect(map.size()).toEqual({ entries: 2, weight: 6 });
  expect([map.get("b"), map.get("c"), map.get("d")]).toEqual([1, undefined, 1]);
  map.addWeight("c", 1);
  expect(map.size()).toEqual({ entries: 2, weight: 6 });
});
