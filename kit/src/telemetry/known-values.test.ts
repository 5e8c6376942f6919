import { expect, test } from "vitest";
import { createKnownValues } from "./known-values.ts";

test("a label has the known values, one for all others, and one for none", () => {
  const clientOf = createKnownValues(["web", "ios"]);
  expect(["web", "ios", "Web", "eyJhbGciOi", "__proto__", "", undefined].map(clientOf)).toEqual([
    "web",
    "ios",
    "other",
    "other",
    "other",
    "unnamed",
    "unnamed",
  ]);
});
