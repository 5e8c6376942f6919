import { createHash } from "node:crypto";
import type { OrderLine } from "../model.ts";

/** Every page of the catalogue. */
export const catalogueGroup = "products";

/** Every single product: for orders of so many that their names are more than caches have to bear. */
const everyProductGroup = "every-product";

/** A list names at most 32 groups, each of at most 32 characters (RFC 9875, 2); a sku has up to 64. */
const namedMax = 31;
const skuCharsMax = 24;

/** The groups of copies of one product. */
export function groupsOfProduct(sku: string): readonly string[] {
  return [nameOf(sku), everyProductGroup];
}

/** What an order takes from the stock, or gives back to it, is in these copies. */
export function groupsOfStock(lines: readonly OrderLine[]): readonly string[] {
  const products = lines.length > namedMax ? [everyProductGroup] : lines.map(({ sku }) => nameOf(sku));
  return [catalogueGroup, ...products];
}

/** Two skus of one name would cost a copy, and show nothing old. */
function nameOf(sku: string): string {
  const isShort = sku.length <= skuCharsMax;
  return `product-${isShort ? sku : createHash("sha256").update(sku).digest("hex").slice(0, skuCharsMax)}`;
}
