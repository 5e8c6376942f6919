import { expect, test } from "vitest";
import { AbortSource } from "./abort-source.ts";

test("all who listen are told once, in their order, and find the reason there", () => {
  const source = new AbortSource();
  const told: unknown[] = [];
  for (const name of ["a", "b"]) {
    source.addEventListener("abort", () => void told.push([name, source.aborted, source.reason]));
  }
  source.abort("late");
  source.abort("gone");
  expect(told).toEqual([
    ["a", true, "late"],
    ["b", true, "late"],
  ]);
  expect(source.reason).toBe("late");
});

test("who has left is not told, and takes nobody along", () => {
  const source = new AbortSource();
  const told: string[] = [];
  const leaves = () => void told.push("left");
  source.addEventListener("abort", leaves);
  source.addEventListener("abort", () => void told.push("stays"));
  source.removeEventListener("abort", leaves);
  source.removeEventListener("abort", leaves);
  source.abort("gone");
  expect(told).toEqual(["stays"]);
});

test("one who is told may leave, and the next is told all the same", () => {
  const source = new AbortSource();
  const told: string[] = [];
  const first = () => {
    told.push("first");
    source.removeEventListener("abort", first);
  };
  source.addEventListener("abort", first);
  source.addEventListener("abort", () => void told.push("second"));
  source.abort("gone");
  expect(told).toEqual(["first", "second"]);
});
