import { z } from "zod";

export type ListOrder = "oldest" | undefined;

/** `newest` becomes undefined, so that cursors with and without it are the same. */
export const listOrder = z
  .enum(["newest", "oldest"], "sort must be newest or oldest.")
  .nullish()
  .transform((value): ListOrder => (value === "oldest" ? value : undefined));

/** A filter that a client may omit, or set to null. */
export function optionalFilter<S extends z.ZodType>(filter: S) {
  return filter.nullish().transform((value) => value ?? undefined);
}

/** Ids increase with time. */
export function toIdOrder(sort: ListOrder): "ascending" | "descending" {
  return sort === "oldest" ? "ascending" : "descending";
}
