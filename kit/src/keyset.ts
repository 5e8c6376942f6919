import type { Position } from "./cursor.ts";

export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** Nothing: from the beginning. */
  readonly position?: Position | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

export interface Keyset {
  /** A condition over the row's key; it takes the position's id as its value, null for none. */
  readonly where: string;
  readonly orderBy: string;
  /** For the statement's name: the two directions are two statements. */
  readonly direction: "next" | "prev";
  readonly id: string | null;
  /** One row more than asked for, to see whether there is a further page. */
  readonly limit: number;
}

/**
 * The moving parts of a keyset statement over one unique column.
 * @param placeholder such as `$1`, the place of `id` among the statement's values.
 * @param order the list's order going forward.
 */
export function keyset(
  column: string,
  placeholder: string,
  request: PageRequest,
  order: "descending" | "ascending" = "descending",
): Keyset {
  const direction = request.position?.direction ?? "next";
  const falling = (order === "descending") === (direction === "next");
  return {
    where: `(${placeholder} is null or ${column} ${falling ? "<" : ">"} ${placeholder})`,
    orderBy: `${column} ${falling ? "desc" : "asc"}`,
    direction,
    id: request.position?.id ?? null,
    limit: request.limit + 1,
  };
}

/** Turns the rows of a keyset statement into a page, in the list's order whichever way it was read. */
export function toPage<T>(rows: readonly T[], request: PageRequest): Page<T> {
  const more = rows.length > request.limit;
  const items = rows.slice(0, request.limit);
  if (request.position?.direction === "prev") return { items: items.reverse(), hasNext: true, hasPrev: more };
  return { items, hasNext: more, hasPrev: request.position !== undefined };
}
