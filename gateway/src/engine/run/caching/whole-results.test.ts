import { expect, test } from "vitest";
import { createWholeResults } from "./whole-results.ts";

type Parts = Parameters<ReturnType<typeof createWholeResults>["put"]>[2];

test("a result of more parts than a function can have arguments is fresh until its first part is not", () => {
  const wholes = createWholeResults(1_000_000_000);
  const part = { isStored: true, sentAtMs: 100, freshMs: 1_000, needsFeed: false };
  const parts = [...Array.from({ length: 200_000 }, () => part), { ...part, freshMs: 10 }] as unknown as Parts;
  wholes.put("body", { kind: "graphql", data: {}, errors: [], replica: "" } as never, parts, 100);
  expect(wholes.find("body", 109)).toBeDefined();
  expect(wholes.find("body", 110)).toBeUndefined();
});

test("expired results, which keep plans in memory, are removed also if no client requests them again", () => {
  const wholes = createWholeResults(1_000_000_000);
  const partsFor = (freshMs: number) =>
    [{ isStored: true, sentAtMs: 0, freshMs, needsFeed: false }] as unknown as Parts;
  const put = (body: string, freshMs: number, nowMs: number) =>
    wholes.put(body, { kind: "graphql", data: {}, errors: [], replica: "" } as never, partsFor(freshMs), nowMs);
  put("short", 1_000, 0);
  put("long", 1_000_000, 0);
  put("other", 1_000_000, 70_000);
  expect(wholes.size().entries).toBe(2);
});
