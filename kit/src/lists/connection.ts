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

/** @returns 20 if `first` is omitted or null. @throws AppError BAD_USER_INPUT unless it is 1 to 100. */
export function readFirst(first: number | null | undefined): number {
  const limit = first ?? 20;
  if (Number.isInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw invalidInput([{ pointer: "#/first", code: "range", detail: "first is a whole number from 1 to 100." }]);
}

/**
 * Reads the arguments of a connection field. Connections write only forward cursors, but a backward cursor of REST is valid here if its list
 * has the same name.
 * @param list from `nameList`.
 * @throws AppError BAD_USER_INPUT, INVALID_CURSOR.
 */
export function readConnectionRequest(
  args: { readonly first?: number | null | undefined; readonly after?: string | null | undefined },
  cursors: Cursors,
  list: string,
): PageRequest {
  const position = args.after ? cursors.read(list, args.after) : undefined;
  return { limit: readFirst(args.first), position };
}

export function toConnection<T>(
  page: ListPage<T>,
  cursors: Cursors,
  list: string,
  idOf: (item: T) => string,
): Connection<T> {
  const edges = page.items.map((node) => ({
    cursor: cursors.write(list, { direction: "next", id: idOf(node) }),
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
