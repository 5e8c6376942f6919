import { expect, test } from "vitest";
import { type Audience, dependsOnCaller, toCachingHeaders, writeGroups } from "./caching.ts";
import type { RouteDeclaration } from "./routes.ts";

const freshness = {
  browserSeconds: 2,
  sharedSeconds: 10,
  staleWhileRevalidateSeconds: 20,
  staleIfErrorSeconds: 300,
};

test("a public route's answer may be kept by everybody, for as long as its team says", () => {
  expect(headersOf({ cache: "public", freshness }, "everybody")).toEqual({
    "Cache-Control": "public, max-age=2, s-maxage=10, stale-while-revalidate=20, stale-if-error=300",
    "CDN-Cache-Control": "public, max-age=10, stale-while-revalidate=20, stale-if-error=300",
    "Cache-Groups": '"things", "thing-1"',
  });
});

test("without a freshness copies are asked about each time, and what is not to be kept is not", () => {
  expect(headersOf({ cache: "public" }, "everybody")["Cache-Control"]).toBe("no-cache");
  expect(toCachingHeaders(route({ cache: "none" }), false, undefined)).toEqual({ "Cache-Control": "no-store" });
});

test("what is the caller's is theirs alone, on whatever route, and says what it depends on", () => {
  for (const more of [{ cache: "public", freshness } as const, { cache: "private" } as const]) {
    expect(headersOf(more, "caller")).toMatchObject({ Vary: "Authorization", "Cache-Control": "private, no-cache" });
    expect(headersOf(more, "caller")).not.toHaveProperty("CDN-Cache-Control");
  }
  expect(headersOf({ cache: "private" }, undefined)["Cache-Control"]).toBe("private, no-cache");
});

test("a private route's answer that is everybody's after all may be kept, and asked about", () => {
  expect(headersOf({ cache: "private" }, "everybody")["Cache-Control"]).toBe("no-cache");
});

test("a parameter can make a public route the caller's, whatever its handler finds", () => {
  const more = { cache: "public", freshness, query: ["status", "limit"], privateWith: ["status"] } as const;
  expect(headersOf(more, "everybody", ["limit"])).toHaveProperty("CDN-Cache-Control");
  expect(headersOf(more, "everybody", ["limit", "status"])).toMatchObject({
    Vary: "Authorization",
    "Cache-Control": "private, no-cache",
  });
});

test("groups are names that every cache can bear", () => {
  expect(writeGroups(["things", "thing-PRINT-1"])).toBe('"things", "thing-PRINT-1"');
  for (const unfit of [[""], ["x".repeat(33)], ['"'], ["\\"], ["é"], Array.from({ length: 33 }, () => "x")]) {
    expect(() => writeGroups(unfit)).toThrow("no groups");
  }
});

function headersOf(more: Partial<RouteDeclaration>, audience: Audience | undefined, names: readonly string[] = []) {
  const declared = route(more);
  const shows = audience && { etag: '"1"', audience, groups: ["things", "thing-1"] };
  return toCachingHeaders(declared, dependsOnCaller(declared, new Set(names)), shows);
}

function route(more: Partial<RouteDeclaration>): RouteDeclaration {
  return { id: "one", method: "GET", path: "/things", versions: [1], cache: "public", summary: "Things", ...more };
}
