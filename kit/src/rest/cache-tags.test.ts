import { expect, test } from "vitest";
import { writeTags } from "./cache-tags.ts";

test("the tags are the groups and, once for each, their services", () => {
  const groups = ["posts", "posts:7", "posts:by-1", "users:1"];
  expect(writeTags("Surrogate-Key", groups)).toBe("posts posts:7 posts:by-1 users:1 service:posts service:users");
  expect(writeTags("Cache-Tag", ["posts:7"])).toBe("posts:7,service:posts");
});
