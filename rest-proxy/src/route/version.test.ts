import { expect, test } from "vitest";
import { createRouteTable } from "./route-table.ts";
import type { Route } from "./routes.ts";
import { createVersionResolver, readVersion } from "./version.ts";

test("a path names a version or none", () => {
  expect(readVersion("/v1/things")).toEqual({ version: 1, path: "/things" });
  expect(readVersion("/v12/things/7")).toEqual({ version: 12, path: "/things/7" });
  expect(readVersion("/things")).toEqual({ version: undefined, path: "/things" });
});

test.each([
  "/v0/things",
  "/v01/things",
  "/V1/things",
  "/v1",
  "/v1000/things",
  "/v1.0/things",
  "/v%31/things",
  "/v-1/things",
])("%s names no version", (path) => {
  expect(readVersion(path)).toEqual({ version: undefined, path });
});

test("only the first version is removed from a path", () => {
  expect(readVersion("/v1/v2/things")).toEqual({ version: 1, path: "/v2/things" });
});

const v2 = "application/vnd.tributary.v2+json";
const any = undefined;

/** `/things` exists in 1 and 2, `/olds` in 1, `/news` in 2; the default is 1. */
test.each([
  // Method, path, Accept, result.
  ["GET", "/things", any, "v1 json negotiated"],
  ["GET", "/things", v2, "v2 vendor negotiated"],
  ["GET", "/things", "application/json;version=2", "v2 json negotiated"],
  ["GET", "/things", "application/json;version=3", "NOT_ACCEPTABLE"],
  ["GET", "/things", "text/html", "NOT_ACCEPTABLE"],
  ["GET", "/v1/things", any, "v1 json"],
  ["GET", "/v1/things", v2, "NOT_ACCEPTABLE"],
  ["GET", "/v1/things", "text/html", "NOT_ACCEPTABLE"],
  ["GET", "/v2/things", "application/json", "v2 json"],
  ["GET", "/v2/things", v2, "v2 vendor"],
  ["GET", "/v3/things", any, "NOT_FOUND"],
  ["GET", "/v3/things", "application/json;version=3", "NOT_FOUND"],
  ["GET", "/v3/things", "text/html", "NOT_FOUND"],
  ["GET", "/olds", any, "v1 json negotiated"],
  ["GET", "/olds", v2, "NOT_ACCEPTABLE"],
  ["GET", "/news", any, "NOT_FOUND"],
  ["GET", "/news", "application/json;q=0.5", "NOT_FOUND"],
  ["GET", "/news", v2, "v2 vendor negotiated"],
  ["GET", "/nothing", any, "NOT_FOUND"],
  ["GET", "/nothing", v2, "NOT_FOUND"],
  ["GET", "/nothing", "text/html", "NOT_FOUND"],
  ["OPTIONS", "/things", "text/html", "v1 json negotiated"],
  ["OPTIONS", "/news", any, "v2 json negotiated"],
  ["OPTIONS", "/v2/news", "text/html", "v2 json"],
  ["OPTIONS", "/nothing", any, "NOT_FOUND"],
])("%s %s with %s is %s", (method, path, accept, expected) => {
  const route = (name: string, versions: readonly number[]): Route => ({
    id: name,
    method: "GET",
    path: `/${name}`,
    versions,
    query: [],
    cache: "none",
    service: "things",
    summary: name,
  });
  const table = createRouteTable([route("things", [1, 2]), route("olds", [1]), route("news", [2])]);
  const find = createVersionResolver({ table, defaultVersion: 1 });
  const describe = () => {
    const { version, media, isNegotiated } = find({ method, path, accept });
    return `v${version} ${media}${isNegotiated ? " negotiated" : ""}`;
  };
  if (expected.startsWith("v")) expect(describe()).toBe(expected);
  else expect(describe).toThrow(expect.objectContaining({ code: expected }));
});
