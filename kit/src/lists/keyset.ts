import type { CursorPosition } from "./cursor.ts";

// Keyset pagination: a page is the rows after or before a key, instead of an offset. Each service's store.ts builds its list statements from it.

export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  /** Undefined: from the beginning. */
  readonly position?: CursorPosition | undefined;
  /**
   * Set by REST only, whose list responses are cut at this size (rest/lists.ts). A store with large rows may stop after
   * the row that exceeds this size: REST cuts there, and sets `hasNext` or `hasPrev`. Other stores ignore it.
   */
  readonly bytesMax?: number | undefined;
}

/** The items are in the order of the list, also for a page that was requested backward (`prev`). */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

/** The parts of a list's SQL statement that depend on the requested page. */
export interface Keyset {
  /** An SQL condition with one parameter, whose value is `id`. */
  readonly where: string;
  readonly orderBy: string;
  /** For the statement's name: the first page and the two directions have different texts. */
  readonly direction: "first" | "next" | "prev";
  /** Null on the first page, whose condition is always true. */
  readonly id: string | null;
  /** One more than requested, so that `toPage` sees whether there are more rows. */
  readonly limit: number;
}

/**
 * The first page has a separate statement text: a generic plan for `$1 is null or id < $1` could not use the index, and a later page would read all
 * rows before it.
 * @param column a unique column.
 * @param placeholder of `id` in the statement, such as `$1`.
 * @param order of the list in its forward direction.
 */
export function createKeyset(
  column: string,
  placeholder: string,
  request: PageRequest,
  order: "descending" | "ascending" = "descending",
): Keyset {
  const direction = request.position?.direction ?? "first";
  // A backward page is read in the opposite order, from its position on. `toPage` restores the order of the list.
  const isDescending = direction === "prev" ? order === "ascending" : order === "descending";
  const comparison = isDescending ? "<" : ">";
  return {
    where: direction === "first" ? `${placeholder} is null` : `${column} ${comparison} ${placeholder}`,
    orderBy: `${column} ${isDescending ? "desc" : "asc"}`,
    direction,
    id: request.position?.id ?? null,
    limit: request.limit + 1,
  };
}

/**
 * Converts the rows of the keyset statement for `request` into a page. The page before a position always has a next page, which begins at the
 * row of that position. The page after a position always has a previous page.
 */
export function toPage<T>(rows: readonly T[], request: PageRequest): ListPage<T> {
  const hasMore = rows.length > request.limit;
  const items = rows.slice(0, request.limit);
  if (request.position?.direction === "prev") return { items: items.reverse(), hasNext: true, hasPrev: hasMore };
  return { items, hasNext: hasMore, hasPrev: request.position !== undefined };
}
