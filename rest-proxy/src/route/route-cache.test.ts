import { expect, test } from "vitest";
import { type CachedRoute, createRouteCache } from "./route-cache.ts";

const cachedRoute = (resource: string) => ({ resource }) as CachedRoute;

test("a route is found by its target and Accept together, for GET only", () => {
  const cache = createRouteCache();
  cache.set("GET", "/a", "text/x", cachedRoute("/v1/a"));
  cache.set("POST", "/b", undefined, cachedRoute("/v1/b"));
  const resourceOf = (method: string, url: string, accept?: string) => cache.find(method, url, accept)?.resource;
  expect(resourceOf("GET", "/a", "text/x")).toBe("/v1/a");
  expect([resourceOf("GET", "/a"), resourceOf("GET", "/a", "text/y"), resourceOf("HEAD", "/a", "text/x")]).toEqual(
    Array.from({ length: 3 }),
  );
  expect([resourceOf("GET", "/b"), resourceOf("POST", "/b")]).toEqual([undefined, undefined]);
});

test("the oldest route is evicted beyond the limit, and a key that is too long is not stored", () => {
  const cache = createRouteCache();
  for (let i = 0; i <= 4_096; i++) cache.set("GET", `/${i}`, undefined, cachedRoute(`${i}`));
  const isCached = (url: string) => cache.find("GET", url, undefined) !== undefined;
  expect(["/0", "/1", "/4096"].map(isCached)).toEqual([false, true, true]);
  cache.set("GET", `/${"a".repeat(256)}`, undefined, cachedRoute("a"));
  expect(isCached(`/${"a".repeat(256)}`)).toBe(false);
});
