import { expect, test } from "vitest";
import { type Audience, doesVaryByCaller, toCachingHeaders, writeGroups } from "./caching.ts";
import type { RouteDeclaration } from "./routes.ts";

const freshness = {
  browserSeconds: 2,
  sharedSeconds: 10,
  staleWhileRevalidateSeconds: 20,
  staleIfErrorSeconds: 300,
};

test("a public route's response may be stored by shared caches for its declared freshness", () => {
  expect(headersOf({ cache: "public", freshness }, "everyone")).toEqual({
    "Cache-Control": "public, max-age=2, s-maxage=10, stale-while-revalidate=20, stale-if-error=300",
    "CDN-Cache-Control": "public, max-age=10, stale-while-revalidate=20, stale-if-error=300",
    "Cache-Groups": '"things", "thing-1"',
  });
});

test("a route without freshness requires revalidation, and one with cache `none` is not stored", () => {
  expect(headersOf({ cache: "public" }, "everyone")["Cache-Control"]).toBe("no-cache");
  expect(toCachingHeaders(route({ cache: "none" }), false, undefined)).toEqual({ "Cache-Control": "no-store" });
});

test("a response for one caller is private and varies by Authorization, on every route", () => {
  for (const more of [{ cache: "public", freshness } as const, { cache: "private" } as const]) {
    expect(headersOf(more, "caller")).toMatchObject({ Vary: "Authorization", "Cache-Control": "private, no-cache" });
    expect(headersOf(more, "caller")).not.toHaveProperty("CDN-Cache-Control");
  }
  expect(headersOf({ cache: "private" }, undefined)["Cache-Control"]).toBe("private, no-cache");
});

test("a private route's response that is the same for all callers may be stored, with revalidation", () => {
  expect(headersOf({ cache: "private" }, "everyone")["Cache-Control"]).toBe("no-cache");
});

test("a `privateWith` parameter makes a public route's response private, whatever its handler returns", () => {
  const more = { cache: "public", freshness, query: ["status", "limit"], privateWith: ["status"] } as const;
  expect(headersOf(more, "everyone", ["limit"])).toHaveProperty("CDN-Cache-Control");
  expect(headersOf(more, "everyone", ["limit", "status"])).toMatchObject({
    Vary: "Authorization",
    "Cache-Control": "private, no-cache",
  });
});

test("cache groups have names that every cache supports", () => {
  expect(writeGroups(["things", "thing-PRINT-1"])).toBe('"things", "thing-PRINT-1"');
  for (const invalid of [[""], ["x".repeat(33)], ['"'], ["\\"], ["é"], Array.from({ length: 33 }, () => "x")]) {
    expect(() => writeGroups(invalid)).toThrow("invalid cache groups");
  }
});

function headersOf(more: Partial<RouteDeclaration>, audience: Audience | undefined, names: readonly string[] = []) {
  const declared = route(more);
  const metadata = audience && { etag: '"1"', audience, groups: ["things", "thing-1"] };
  return toCachingHeaders(declared, doesVaryByCaller(declared, new Set(names)), metadata);
}

function route(more: Partial<RouteDeclaration>): RouteDeclaration {
  return { id: "one", method: "GET", path: "/things", versions: [1], cache: "public", summary: "Things", ...more };
}
