import { expect, test } from "vitest";
import { readRequestId } from "./request-id.ts";

test("a request id that is valid for logs is accepted, any other is replaced", () => {
  expect(readRequestId("abc-123")).toBe("abc-123");
  for (const bad of [undefined, "", "a b", "x".repeat(129), "a\nb", ["a", "b"]])
    expect(readRequestId(bad)).toMatch(/^[\da-f-]{36}$/);
});
