import type { Cursors } from "./cursor.ts";
import { invalidInput } from "../errors/app-error.ts";
import type { ListPage, PageRequest } from "./keyset.ts";

// The GraphQL form of a list; its REST form is in rest/lists.ts.

/** A connection (GraphQL Cursor Connections Specification), with `nodes` as an addition. */
export interface Connection<T> {
  readonly edges: readonly { readonly cursor: string; readonly node: T }[];
  readonly nodes: readonly T[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

const firstDefault = 20;
const firstMax = 100;

/** @returns 20 if `first` is omitted or null. @throws AppError BAD_USER_INPUT unless it is 1 to 100. */
export function readFirst(first: number | null | undefined): number {
  const limit = first ?? firstDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= firstMax) return limit;
  const detail = `first is a whole number from 1 to ${firstMax}.`;
  throw invalidInput([{ pointer: "#/first", code: "range", detail }]);
}

/**
 * Reads the arguments of a connection field. Connections write only forward cursors. A backward cursor that REST has written for a list of the same
 * name is valid too: the page then ends before its item. An empty `after` counts as omitted.
 * @param listName from `nameList`.
 * @throws AppError BAD_USER_INPUT, INVALID_CURSOR.
 */
export function readConnectionRequest(
  args: { readonly first?: number | null | undefined; readonly after?: string | null | undefined },
  cursors: Cursors,
  listName: string,
): PageRequest {
  const position = args.after ? cursors.read(listName, args.after) : undefined;
  return { limit: readFirst(args.first), position };
}

/** @param listName from `nameList`. @param idOf the id for the cursor of an item. */
export function toConnection<T>(
  page: ListPage<T>,
  cursors: Cursors,
  listName: string,
  idOf: (item: T) => string,
): Connection<T> {
  const edges = page.items.map((node) => ({
    cursor: cursors.write(listName, { direction: "next", id: idOf(node) }),
    node,
  }));
  return {
    edges,
    nodes: page.items,
    pageInfo: {
      hasNextPage: page.hasNext,
      hasPreviousPage: page.hasPrev,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}
