import { expect, test } from "vitest";
import { readVersion } from "./versions.ts";

test("the path decides the version, and none means the default", () => {
  expect(readVersion("/v1/things", 3)).toEqual({ version: 1, path: "/things" });
  expect(readVersion("/v12/things/7", 3)).toEqual({ version: 12, path: "/things/7" });
  expect(readVersion("/things", 3)).toEqual({ version: 3, path: "/things" });
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
  expect(readVersion(path, 3)).toEqual({ version: 3, path });
});

test("a version is taken off once", () => {
  expect(readVersion("/v1/v2/things", 3)).toEqual({ version: 1, path: "/v2/things" });
});
