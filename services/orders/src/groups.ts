// Cache groups (RFC 9875), for both endpoints: a change invalidates the cached responses in its groups.
import { createHash } from "node:crypto";
import { isSku } from "./model.ts";
import type { RecordedChange } from "@tributary/kit/feed/outbox";
import type { FieldGroups } from "@tributary/kit/graphql/cache-metadata";
import type { ServiceCaching } from "@tributary/kit/service/service";

/** The groups of a page of the product list. */
export const groupsOfProductList: readonly string[] = ["orders:products"];

/** The group of every response with one product. An order with more products than a header can name invalidates this group. */
const everyProductGroup = "orders:every-product";

/** A header names at most 32 groups (RFC 9875, 2), and one of them is the list's. */
const namedProductsMax = 31;

/** A group name has at most 32 characters (RFC 9875, 2), and its prefix has 15. A sku has up to 64. */
const skuCharsMax = 17;

/** The groups of a response with one product. A malformed sku has none: there is no such product. */
export function groupsOfProduct(sku: string): readonly string[] {
  return isSku(sku) ? [groupNameOf(sku), everyProductGroup] : [];
}

/** The groups that a change of these products invalidates. */
export function groupsOfProductChanges(skus: readonly string[]): readonly string[] {
  if (skus.length > namedProductsMax) return [...groupsOfProductList, everyProductGroup];
  return [...groupsOfProductList, ...skus.map(groupNameOf)];
}

/** At both endpoints. */
export const freshSeconds = 10;

/** How long a response is still sent while the service fails, at both endpoints. */
export const staleIfErrorSeconds = 300;

/** Resolvers of orders are not listed, so responses with orders are not stored. */
const fieldGroups: FieldGroups = {
  "Query.product": (_, { sku }: { readonly sku: string }) => groupsOfProduct(sku),
  "Query.products": () => groupsOfProductList,
  "Product.__resolveReference": ({ sku }: { readonly sku: string }) => groupsOfProduct(sku),
};

/** A statement outside this service can change a sku. Undefined for an unknown kind, or without a sku: the feed then sends a `reset`. */
export function groupsOfChange({ kind, before, after }: RecordedChange): readonly string[] | undefined {
  if (kind !== "product") return undefined;
  const skus = [before, after].flatMap((row) => row?.["sku"] ?? []);
  if (skus.length === 0) return undefined;
  return groupsOfProductChanges([...new Set(skus)]);
}

/** A long sku is hashed. A collision would only invalidate one cached response too many. */
function groupNameOf(sku: string): string {
  if (sku.length <= skuCharsMax) return `orders:product-${sku}`;
  const hash = createHash("sha256").update(sku).digest("hex");
  return `orders:product-${hash.slice(0, skuCharsMax)}`;
}

export const caching: ServiceCaching = { freshSeconds, staleIfErrorSeconds, fieldGroups, groupsOfChange };
