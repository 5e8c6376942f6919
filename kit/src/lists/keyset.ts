import type { CursorPosition } from "./cursor.ts";

export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** Undefined: from the beginning. */
  readonly position?: CursorPosition | undefined;
  /** A page may end early once its rows have this size, so that a list of large rows need not read them all. */
  readonly bytesMax?: number | undefined;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

export interface Keyset {
  /** An SQL condition on the key column. Its parameter is `id`. */
  readonly where: string;
  readonly orderBy: string;
  /** Part of the statement's name: the first page and the two directions have different texts. */
  readonly direction: "first" | "next" | "prev";
  readonly id: string | null;
  /** One more than requested, to detect whether there is a further page. */
  readonly limit: number;
}

/**
 * The variable parts of a keyset statement over one unique column. The first page has a separate text: a generic plan for
 * `$1 is null or id < $1` could not use the index, and deep pages would read all rows before them.
 * @param placeholder of `id`, such as `$1`.
 * @param order of the list in its forward direction.
 */
export function createKeyset(
  column: string,
  placeholder: string,
  request: PageRequest,
  order: "descending" | "ascending" = "descending",
): Keyset {
  const direction = request.position?.direction ?? "first";
  const isDescending = (order === "descending") === (direction !== "prev");
  return {
    where: direction === "first" ? `${placeholder} is null` : `${column} ${isDescending ? "<" : ">"} ${placeholder}`,
    orderBy: `${column} ${isDescending ? "desc" : "asc"}`,
    direction,
    id: request.position?.id ?? null,
    limit: request.limit + 1,
  };
}

/** Converts the rows of a keyset statement into a page in the list's order. */
export function toPage<T>(rows: readonly T[], request: PageRequest): ListPage<T> {
  const hasMore = rows.length > request.limit;
  const items = rows.slice(0, request.limit);
  if (request.position?.direction === "prev") return { items: items.reverse(), hasNext: true, hasPrev: hasMore };
  return { items, hasNext: hasMore, hasPrev: request.position !== undefined };
}
