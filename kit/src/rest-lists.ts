import type { Cursors } from "./cursor.ts";
import { AppError } from "./errors.ts";
import type { Page, PageRequest } from "./keyset.ts";
import { pageBytesMax, type RestAnswer, type RestRequest } from "./rest.ts";

/**
 * Reads `limit` (1 to 100, 20 by default) and `cursor` from a list's query.
 * @throws AppError MALFORMED_REQUEST, INVALID_CURSOR.
 */
export function readPageRequest(query: RestRequest["query"], cursors: Cursors, list: string): PageRequest {
  const limit = query["limit"] ?? "20";
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > 100) {
    throw new AppError("MALFORMED_REQUEST", "The query parameter limit is a whole number from 1 to 100.");
  }
  const cursor = query["cursor"];
  return { limit: Number(limit), position: cursor === undefined ? undefined : cursors.read(list, cursor) };
}

export interface ListOptions<T> {
  readonly request: RestRequest;
  readonly cursors: Cursors;
  readonly list: string;
  readonly page: Page<T>;
  readonly idOf: (item: T) => string;
  readonly toJson: (item: T) => unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A list as version 1 says it: a bare array, its neighbours in `Link` (RFC 8288). It ends early at 1 MiB, at the end that is farthest
 * from where the page began, so that whoever goes on in the same direction misses nothing.
 */
export function writeList<T>(o: ListOptions<T>): RestAnswer {
  const back = isBack(o);
  const { rendered, items, cut } = renderWithin(o.page.items, o.toJson, back);
  const first = items[0];
  const last = items.at(-1);
  const links = [linkTo(o.request, undefined, "first")];
  if (last !== undefined && (o.page.hasNext || (cut && !back))) {
    links.push(linkTo(o.request, o.cursors.write(o.list, { direction: "next", id: o.idOf(last) }), "next"));
  }
  if (first !== undefined && (o.page.hasPrev || (cut && back))) {
    links.push(linkTo(o.request, o.cursors.write(o.list, { direction: "prev", id: o.idOf(first) }), "prev"));
  }
  return {
    status: 200,
    headers: { ...o.headers, Link: links.join(", ") },
    bytes: Buffer.from(`[${rendered.join(",")}]`),
  };
}

/** At least one item, and as many as fit, from the beginning or from the end. */
function renderWithin<T>(items: readonly T[], toJson: (item: T) => unknown, fromEnd: boolean) {
  const rendered: string[] = [];
  let bytes = 2;
  for (const item of fromEnd ? items.toReversed() : items) {
    const text = JSON.stringify(toJson(item));
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > pageBytesMax && rendered.length > 0) break;
    rendered.push(text);
  }
  const cut = rendered.length < items.length;
  if (!fromEnd) return { rendered, items: items.slice(0, rendered.length), cut };
  return { rendered: rendered.reverse(), items: items.slice(items.length - rendered.length), cut };
}

function isBack<T>({ request, cursors, list }: ListOptions<T>): boolean {
  const cursor = request.query["cursor"];
  return cursor !== undefined && cursors.read(list, cursor).direction === "prev";
}

function linkTo({ path, query }: RestRequest, cursor: string | undefined, rel: string): string {
  const { cursor: _, ...others } = query;
  const parameters = new URLSearchParams({ ...others, ...(cursor === undefined ? {} : { cursor }) }).toString();
  return `<${path}${parameters === "" ? "" : `?${parameters}`}>; rel="${rel}"`;
}
