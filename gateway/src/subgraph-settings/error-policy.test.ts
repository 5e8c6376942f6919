import { expect, test } from "vitest";
import { createErrorPolicy } from "./error-policy.ts";

test("an extension with a number that JSON cannot represent is left out", () => {
  const { publish } = createErrorPolicy({ extensions: ["limit", "list", "kept"] });
  // As `JSON.parse` reads 1e400.
  const extensions = { code: "NOT_FOUND", limit: Infinity, list: [{ least: -Infinity }], kept: [1, null] };
  expect(publish("No.", extensions)?.extensions).toEqual({ kept: [1, null] });
});
