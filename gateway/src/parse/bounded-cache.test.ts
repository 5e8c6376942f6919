import { expect, test } from "vitest";
import { createBoundedCache } from "./bounded-cache.ts";

test("the text that was not used longest is dropped when there are too many", async () => {
  const cache = createBoundedCache({ entriesMax: 2, charactersMax: 100 });
  await cache.set("a", "1");
  await cache.set("b", "2");
  await cache.get("a");
  await cache.set("c", "3");
  expect([await cache.get("a"), await cache.get("b"), await cache.get("c")]).toEqual(["1", undefined, "3"]);
});

test("a flood of texts is held to a number of characters", async () => {
  const cache = createBoundedCache({ entriesMax: 1_000, charactersMax: 100 });
  for (let i = 0; i < 500; i++) await cache.set(String(i).padStart(3, "0"), "x".repeat(17));
  const kept = await Promise.all(Array.from({ length: 500 }, (_, i) => cache.get(String(i).padStart(3, "0"))));
  expect(kept.filter(Boolean)).toHaveLength(5);
  expect(kept[499]).toBeDefined();
});

test("a text longer than the whole cache is not kept and drops nothing", async () => {
  const cache = createBoundedCache({ entriesMax: 10, charactersMax: 10 });
  await cache.set("a", "1");
  await cache.set("b", "x".repeat(50));
  expect([await cache.get("a"), await cache.get("b")]).toEqual(["1", undefined]);
});

test("a text that is set again or deleted is counted once", async () => {
  const cache = createBoundedCache({ entriesMax: 10, charactersMax: 6 });
  for (let i = 0; i < 5; i++) await cache.set("a", "12");
  await cache.set("b", "12");
  expect([await cache.get("a"), await cache.get("b")]).toEqual(["12", "12"]);
  expect([await cache.delete("a"), await cache.delete("a")]).toEqual([true, false]);
  await cache.set("c", "12");
  expect([await cache.get("b"), await cache.get("c")]).toEqual(["12", "12"]);
});
