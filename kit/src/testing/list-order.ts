import { walkList } from "./pages.ts";
import type { TestService } from "./service.ts";

/** What a list shows of its two orders. */
export interface ListOrder {
  readonly hasSeveralPages: boolean;
  /** From its other end it is the same list, reversed. */
  readonly isReversed: boolean;
  /** By `prev` it is what it was by `next`, in both orders. */
  readonly isSameOnTheWayBack: boolean;
  /** Saying the order that it has anyway changes neither the bytes nor the ETag. */
  readonly isSameWhenSaid: boolean;
  readonly hasTagOfItsOwnReversed: boolean;
  /** The status for its own cursor, and for one of the other order. */
  readonly cursors: readonly [number, number];
  /** The status and the named parameter for an order that it does not have. */
  readonly unknown: readonly [number, string];
  readonly statusWhenRepeated: number;
}

export const soundListOrder: ListOrder = {
  hasSeveralPages: true,
  isReversed: true,
  isSameOnTheWayBack: true,
  isSameWhenSaid: true,
  hasTagOfItsOwnReversed: true,
  cursors: [200, 400],
  unknown: [400, "sort"],
  statusWhenRepeated: 400,
};

/** Reads a list of three items at least in both orders. `path` ends where a parameter may follow. */
export async function readListOrder(service: TestService, path: string, token?: string): Promise<ListOrder> {
  const get = (parameters: string) => service.rest("GET", path + parameters, token === undefined ? {} : { token });
  const newest = await walkList(service, `${path}limit=2`, token);
  const oldest = await walkList(service, `${path}limit=2&sort=oldest`, token);
  const [first, said] = [await get("limit=1"), await get("limit=1&sort=newest")];
  const reversed = await get("limit=1&sort=oldest");
  const cursor = /cursor=([\w-]+)/.exec(first.headers.get("link") ?? "")?.[1];
  const statusOf = async (parameters: string) => (await get(parameters)).status;
  const unknown = await get("sort=id");
  return {
    hasSeveralPages: newest.onward.length > 2,
    isReversed: isEqual(oldest.onward, newest.onward.toReversed()),
    isSameOnTheWayBack: isEqual([newest.back, oldest.back], [newest.onward, oldest.onward]),
    isSameWhenSaid: isEqual([said.text, tagOf(said)], [first.text, tagOf(first)]),
    hasTagOfItsOwnReversed: tagOf(reversed) !== tagOf(first),
    cursors: [
      await statusOf(`limit=1&sort=newest&cursor=${cursor}`),
      await statusOf(`limit=1&sort=oldest&cursor=${cursor}`),
    ],
    unknown: [unknown.status, unknown.body.errors?.[0]?.parameter],
    statusWhenRepeated: await statusOf("sort=oldest&sort=oldest"),
  };
}

function tagOf({ headers }: { readonly headers: Headers }): string | null {
  return headers.get("etag");
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
