import type { Request } from "express";
import { expect, test } from "vitest";
import { publicPath } from "./error-responses.ts";

test.each([
  ["/rest/v1/users/1", "/v1/users/1"],
  ["/rest/v1/users?limit=5", "/v1/users"],
  ["/restaurants/1", "/restaurants/1"],
  ["/graphql", "/graphql"],
])("the public path of %s is %s", (originalUrl, expected) => {
  expect(publicPath({ originalUrl } as Request)).toBe(expected);
});
