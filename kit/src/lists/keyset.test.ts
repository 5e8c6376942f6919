import { expect, test } from "vitest";
import { createKeyset, toPage } from "./keyset.ts";

test("a keyset reads one row more than the page has", () => {
  const request = { limit: 2, position: { direction: "prev" as const, id: "9" } };
  expect(createKeyset("id", "$1", request)).toMatchObject({
    where: "id > $1",
    orderBy: "id asc",
    direction: "prev",
    id: "9",
    limit: 3,
  });
  expect(createKeyset("sku", "$1", { limit: 2 }, "ascending")).toMatchObject({
    where: "$1 is null",
    orderBy: "sku asc",
    direction: "first",
    id: null,
  });
  expect(toPage([10, 11, 12], request)).toEqual({ items: [11, 10], hasNext: true, hasPrev: true });
  expect(toPage([10, 11], request)).toEqual({ items: [11, 10], hasNext: true, hasPrev: false });
  expect(toPage([3, 2, 1], { limit: 2 })).toEqual({ items: [3, 2], hasNext: true, hasPrev: false });
});
