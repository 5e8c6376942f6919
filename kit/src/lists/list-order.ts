// The argument `sort` of a list: part of the filters in each service's model.ts, applied in its store.ts.
import { z } from "zod";

/** Undefined: the default order, newest first. */
export type ListOrder = "oldest" | undefined;

/** The schema of `sort`. `newest` becomes undefined, so that cursors with `sort: newest` and without `sort` are the same. */
export const listOrder = z
  .enum(["newest", "oldest"], "sort must be newest or oldest.")
  .nullish()
  .transform((value): ListOrder => (value === "oldest" ? value : undefined));

/** The `order` for `createKeyset`: ids increase with time. */
export function toIdOrder(sort: ListOrder): "ascending" | "descending" {
  return sort === "oldest" ? "ascending" : "descending";
}
