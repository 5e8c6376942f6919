import type { CursorPosition } from "./cursor.ts";

export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** Nothing: from the beginning. */
  readonly position?: CursorPosition | undefined;
  /** After so many bytes no further rows are needed: a page may end early. A list of large rows need not read them all then. */
  readonly bytesMax?: number | undefined;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

export interface Keyset {
  /** A condition over the row's key; it takes the position's id as its value, null for none. */
  readonly where: string;
  readonly orderBy: string;
  /** For the statement's name: the first page and the two directions are three statements. */
  readonly direction: "first" | "next" | "prev";
  readonly id: string | null;
  /** One row more than asked for, to see whether there is a further page. */
  readonly limit: number;
}

/**
 * The moving parts of a keyset statement over one unique column. The first page has a text of its own: "null or smaller" in one text
 * could not be looked up in an index once PostgreSQL plans for any value, and deep pages would read all before them.
 * @param placeholder such as `$1`, the place of `id` among the statement's values.
 * @param order the list's order going forward.
 */
export function createKeyset(
  column: string,
  placeholder: string,
  request: PageRequest,
  order: "descending" | "ascending" = "descending",
): Keyset {
  const direction = request.position?.direction ?? "first";
  const falling = (order === "descending") === (direction !== "prev");
  return {
    where: direction === "first" ? `${placeholder} is null` : `${column} ${falling ? "<" : ">"} ${placeholder}`,
    orderBy: `${column} ${falling ? "desc" : "asc"}`,
    direction,
    id: request.position?.id ?? null,
    limit: request.limit + 1,
  };
}

/** Turns the rows of a keyset statement into a page, in the list's order whichever way it was read. */
export function toPage<T>(rows: readonly T[], request: PageRequest): ListPage<T> {
  const more = rows.length > request.limit;
  const items = rows.slice(0, request.limit);
  if (request.position?.direction === "prev") return { items: items.reverse(), hasNext: true, hasPrev: more };
  return { items, hasNext: more, hasPrev: request.position !== undefined };
}
