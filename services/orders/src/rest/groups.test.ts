import { writeGroups } from "@tributary/kit/rest/caching";
import { expect, test } from "vitest";
import type { OrderLine } from "../model.ts";
import { groupsOfProduct, groupsOfStock } from "./groups.ts";

test("an order invalidates the groups of its products and of the catalogue", () => {
  expect(groupsOfStock(linesOf("NOTES", "TOKYO"))).toEqual(["products", "product-NOTES", "product-TOKYO"]);
});

test("every product of an order is in an invalidated group, and the names fit into a header", () => {
  const skus = Array.from({ length: 50 }, (_, index) => `${index}`.padStart(index + 14, "x"));
  for (let count = 1; count <= skus.length; count++) {
    const ordered = skus.slice(0, count);
    const changed = groupsOfStock(linesOf(...ordered));
    expect(() => writeGroups(changed)).not.toThrow();
    for (const sku of ordered) expect(groupsOfProduct(sku).filter((group) => changed.includes(group))).toHaveLength(1);
  }
});

test("an order with few products does not invalidate other products", () => {
  const changed = groupsOfStock(linesOf("x".repeat(64), "NOTES"));
  expect(groupsOfProduct("y".repeat(64)).filter((group) => changed.includes(group))).toEqual([]);
});

function linesOf(...skus: readonly string[]): readonly OrderLine[] {
  return skus.map((sku) => ({ orderId: "o", sku, quantity: 1, unitPriceMinor: 1, currency: "EUR" }));
}
