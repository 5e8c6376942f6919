import { z } from "zod";

/** How a list is turned: undefined for its own order, the newest first. */
export type ListOrder = "oldest" | undefined;

/** Reads a list's `sort`. What is left out and `newest` are one list, with the same cursors. */
export const listOrder = z
  .enum(["newest", "oldest"], "A sort is one of newest, oldest.")
  .nullish()
  .transform((value): ListOrder => (value === "oldest" ? value : undefined));

/** The order of ids that rise with time, for `keyset`. */
export function toIdOrder(sort: ListOrder): "ascending" | "descending" {
  return sort === "oldest" ? "ascending" : "descending";
}
