import { z } from "zod";

/** Undefined for the default order, newest first. */
export type ListOrder = "oldest" | undefined;

/** Reads a list's `sort`. Omitted and `newest` are the same list, with the same cursors. */
export const listOrder = z
  .enum(["newest", "oldest"], "sort must be newest or oldest.")
  .nullish()
  .transform((value): ListOrder => (value === "oldest" ? value : undefined));

/** For `createKeyset`, with ids that increase with time. */
export function toIdOrder(sort: ListOrder): "ascending" | "descending" {
  return sort === "oldest" ? "ascending" : "descending";
}
