// Names the cache groups of product responses (RFC 9875). A placed or cancelled order changes the stock, so its response names the groups that
// shared caches must invalidate.
import { createHash } from "node:crypto";
import type { OrderLine } from "../model.ts";

/** The cache group of all pages of the product list. */
export const catalogueGroup = "products";

/** The cache group of all single products, for orders with more products than a header can name. */
const everyProductGroup = "every-product";

/** A header names at most 32 groups (RFC 9875, 2), and one of them is `catalogueGroup`. */
const namedMax = 31;

/** A group name has at most 32 characters (RFC 9875, 2), and `product-` has 8. A sku has up to 64. */
const skuCharsMax = 24;

/** The cache groups of a response with one product. */
export function groupsOfProduct(sku: string): readonly string[] {
  return [nameOf(sku), everyProductGroup];
}

/** The cache groups that an order or a cancellation invalidates, because it changes the stock. */
export function groupsOfStock(lines: readonly OrderLine[]): readonly string[] {
  const products = lines.length > namedMax ? [everyProductGroup] : lines.map(({ sku }) => nameOf(sku));
  return [catalogueGroup, ...products];
}

/** A long sku is hashed. A collision would only invalidate one cached response too many. */
function nameOf(sku: string): string {
  const isShort = sku.length <= skuCharsMax;
  return `product-${isShort ? sku : createHash("sha256").update(sku).digest("hex").slice(0, skuCharsMax)}`;
}
