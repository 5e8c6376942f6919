import { expect, test } from "vitest";
import { createErrorPolicy } from "./error-policy.ts";

test("an extension with a number that JSON cannot represent is left out", () => {
  const { publish } = createErrorPolicy({ extensions: ["limit", "list", "kept"] });
  // As `JSON.parse` reads 1e400.
  const extensions = { code: "NOT_FOUND", limit: Infinity, list: [{ least: -Infinity }], kept: [1, null] };
  expect(publish("No.", extensions)?.extensions).toEqual({ kept: [1, null] });
});

test("an extension whose names and texts are too long together is left out, and others are kept", () => {
  const { publish } = createErrorPolicy({ extensions: ["name", "names", "text", "kept"] });
  const extensions = {
    code: "NOT_FOUND",
    name: { ["k".repeat(10_001)]: 1 },
    names: Array.from({ length: 11 }, () => ({ ["k".repeat(1_000)]: 1 })),
    text: Array.from({ length: 11 }, () => "x".repeat(1_000)),
    kept: { ["k".repeat(9_000)]: "x".repeat(1_000) },
  };
  expect(publish("No.", extensions)?.extensions).toEqual({ kept: extensions.kept });
});
