import { expect, test } from "vitest";
import { createWholeResults } from "./whole-results.ts";

type Parts = Parameters<ReturnType<typeof createWholeResults>["put"]>[2];

test("a result of more parts than a function can have arguments is fresh until its first part is not", () => {
  const wholes = createWholeResults(1_000_000_000);
  const part = { isStored: true, sentAtMs: 100, freshMs: 1_000, needsFeed: false };
  const parts = [...Array.from({ length: 200_000 }, () => part), { ...part, freshMs: 10 }] as unknown as Parts;
  wholes.put("body", { kind: "graphql", data: {}, errors: [], replica: "" } as never, parts);
  expect(wholes.find("body", 109)).toBeDefined();
  expect(wholes.find("body", 110)).toBeUndefined();
});
