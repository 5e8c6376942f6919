import { walkList } from "./pages.ts";
import { etagOf } from "./response-headers.ts";
import type { TestService } from "./service.ts";

export interface ListOrderReport {
  readonly hasSeveralPages: boolean;
  /** The other order is the same list, reversed. */
  readonly isReversed: boolean;
  /** In both orders the pages read by `prev`, from the last one back, have the same items as the pages read by `next`. */
  readonly isSameBackward: boolean;
  /** Naming the default order changes neither the body nor the ETag. */
  readonly isSameWhenNamed: boolean;
  readonly hasOtherEtagReversed: boolean;
  /** The statuses for a cursor of the same order, and for one of the other order. */
  readonly cursors: readonly [number, number];
  /** The status and the named parameter for an unknown order. */
  readonly unknown: readonly [number, string];
  readonly statusWhenRepeated: number;
}

export const expectedListOrder: ListOrderReport = {
  hasSeveralPages: true,
  isReversed: true,
  isSameBackward: true,
  isSameWhenNamed: true,
  hasOtherEtagReversed: true,
  cursors: [200, 400],
  unknown: [400, "sort"],
  statusWhenRepeated: 400,
};

const cursorParameter = /cursor=([\w-]+)/;

/** Reads a list of at least three items in both orders. `path` ends with `?` or `&`. */
export async function readListOrder(service: TestService, path: string, token?: string): Promise<ListOrderReport> {
  const get = (parameters: string) => service.rest("GET", path + parameters, token === undefined ? {} : { token });
  const newest = await walkList(service, `${path}limit=2`, token);
  const oldest = await walkList(service, `${path}limit=2&sort=oldest`, token);
  const first = await get("limit=1");
  const named = await get("limit=1&sort=newest");
  const reversed = await get("limit=1&sort=oldest");
  const cursor = cursorParameter.exec(first.headers.get("link") ?? "")?.[1];
  const statusOf = async (parameters: string) => (await get(parameters)).status;
  const unknown = await get("sort=id");
  return {
    hasSeveralPages: newest.onward.length > 2,
    isReversed: isEqual(oldest.onward, newest.onward.toReversed()),
    isSameBackward: isEqual([newest.back, oldest.back], [newest.onward, oldest.onward]),
    isSameWhenNamed: isEqual([named.text, etagOf(named)], [first.text, etagOf(first)]),
    hasOtherEtagReversed: etagOf(reversed) !== etagOf(first),
    cursors: [
      await statusOf(`limit=1&sort=newest&cursor=${cursor}`),
      await statusOf(`limit=1&sort=oldest&cursor=${cursor}`),
    ],
    unknown: [unknown.status, unknown.body.errors?.[0]?.parameter],
    statusWhenRepeated: await statusOf("sort=oldest&sort=oldest"),
  };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
