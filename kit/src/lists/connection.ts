import type { Cursors } from "./cursor.ts";
import { invalidInput } from "../errors/app-error.ts";
import { type ListPage, type PageRequest, pageBytesMax } from "./keyset.ts";

/** GraphQL Cursor Connections Specification, with `nodes` as an addition. */
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

export function readFirst(first: number | null | undefined): number {
  const limit = first ?? firstDefault;
  if (Number.isInteger(limit) && limit >= 1 && limit <= firstMax) return limit;
  const detail = `first is a whole number from 1 to ${firstMax}.`;
  throw invalidInput([{ pointer: "#/first", code: "range", detail }]);
}

/** A backward cursor of REST is valid too: the page then ends before its item. An empty `after` counts as omitted. */
export function readConnectionRequest(
  args: { readonly first?: number | null | undefined; readonly after?: string | null | undefined },
  cursors: Cursors,
  listName: string,
): PageRequest {
  const position = args.after ? cursors.read(listName, args.after) : undefined;
  return { limit: readFirst(args.first), position, bytesMax: pageBytesMax };
}

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
