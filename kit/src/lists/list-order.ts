import { z } from "zod";

/** Undefined: the default order, newest first. */
export type ListOrder = "oldest" | undefined;

/** Reads a list's `sort`. `newest` becomes undefined, so that the list has the same cursors as without `sort`. */
export const listOrder = z
  .enum(["newest", "oldest"], "sort must be newest or oldest.")
  .nullish()
  .transform((value): ListOrder => (value === "oldest" ? value : undefined));

/** The `order` for `createKeyset`: ids increase with time. */
export function toIdOrder(sort: ListOrder): "ascending" | "descending" {
  return sort === "oldest" ? "ascending" : "descending";
}
