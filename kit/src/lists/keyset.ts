import type { CursorPosition } from "./cursor.ts";

/** A page has fewer items than requested if their text is longer; the rest is on the next page. */
export const pageBytesMax = 1_048_576;

export interface PageRequest {
  readonly limit: number;
  readonly position?: CursorPosition | undefined;
  /** The page ends before the item that exceeds it, so a store with large rows may stop after the row that exceeds it. */
  readonly bytesMax?: number | undefined;
}

/** In the order of the list, also for a page that was requested backward (`prev`). */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
}

export interface Keyset {
  readonly where: string;
  readonly orderBy: string;
  /** For the statement's name: the first page and the two directions have different texts. */
  readonly direction: "first" | "next" | "prev";
  readonly id: string | null;
  /** One more than requested, so that `toPage` sees whether there are more rows. */
  readonly limit: number;
}

/** The first page has a separate text: a generic plan for `$1 is null or id < $1` could not use the index. `column` is unique. */
export function createKeyset(
  column: string,
  placeholder: string,
  request: PageRequest,
  order: "descending" | "ascending" = "descending",
): Keyset {
  const direction = request.position?.direction ?? "first";
  // A backward page is read in the opposite order. `toPage` restores it.
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

/** The page before a position always has a next page, which begins at that row; the page after one always has a previous page. */
export function toPage<T>(rows: readonly T[], request: PageRequest): ListPage<T> {
  const hasMore = rows.length > request.limit;
  const items = rows.slice(0, request.limit);
  if (request.position?.direction === "prev") return { items: items.reverse(), hasNext: true, hasPrev: hasMore };
  return { items, hasNext: hasMore, hasPrev: request.position !== undefined };
}

/** Leaves out the items that exceed `bytesMax`, but not the first one in the direction of the request. */
export function cutPage<T>(
  page: ListPage<T>,
  { position, bytesMax = Infinity }: PageRequest,
  bytesOf: (item: T) => number,
): ListPage<T> {
  const isBackward = position?.direction === "prev";
  const items = isBackward ? page.items.toReversed() : page.items;
  let bytes = 0;
  const end = items.findIndex((item, index) => (bytes += bytesOf(item)) > bytesMax && index > 0);
  if (end === -1) return page;
  const kept = items.slice(0, end);
  return isBackward ? { ...page, items: kept.reverse(), hasPrev: true } : { ...page, items: kept, hasNext: true };
}
