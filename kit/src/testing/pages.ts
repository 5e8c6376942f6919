import { findLink } from "./response-headers.ts";
import type { RestTestAnswer, TestService } from "./service.ts";

/** The ids of a list's items, read page by page: by `next` from the first page, and by `prev` from the last. Both are in the order of the list. */
export interface Walk {
  readonly onward: readonly string[];
  readonly back: readonly string[];
}

/** Reads all pages of a list by `next`, then back by `prev`. @throws Error after 100 pages. */
export async function walkList(service: TestService, path: string, token?: string): Promise<Walk> {
  const get = (page: string) => service.rest("GET", page, token === undefined ? {} : { token });
  const onward = await readPages(get, path, "next");
  const last = onward.at(-1);
  const before = last && findLink(last, "prev");
  const back = before === undefined ? [] : await readPages(get, before, "prev");
  return { onward: onward.flatMap(idsOf), back: [...(last ? [last] : []), ...back].toReversed().flatMap(idsOf) };
}

async function readPages(
  get: (page: string) => Promise<RestTestAnswer>,
  from: string,
  rel: "next" | "prev",
): Promise<readonly RestTestAnswer[]> {
  const pages: RestTestAnswer[] = [];
  for (let page: string | undefined = from; page !== undefined; page = findLink(pages.at(-1) as RestTestAnswer, rel)) {
    if (pages.length === 100) throw new Error(`${from} has no end`);
    pages.push(await get(page));
  }
  return pages;
}

function idsOf({ body }: RestTestAnswer): readonly string[] {
  const items: readonly { readonly id: string }[] = Array.isArray(body) ? body : body.data;
  return items.map(({ id }) => id);
}
