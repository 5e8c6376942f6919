import { findLink } from "./response-headers.ts";
import type { RestTestAnswer, TestService } from "./service.ts";

/** The ids of a list's items, in its order: read by `next` from the first page, and by `prev` from the last. */
export interface Walk {
  readonly onward: readonly string[];
  readonly back: readonly string[];
}

const pagesMax = 100;

/** Reads all pages of a list by `next`, then back by `prev`. @throws Error after `pagesMax` pages. */
export async function walkList(service: TestService, path: string, token?: string): Promise<Walk> {
  const get = (page: string) => service.rest("GET", page, token === undefined ? {} : { token });
  const onward = await readPages(get, path, "next");
  // The last page was read already.
  const back = onward.slice(-1);
  const [last] = back;
  const beforeLast = last && findLink(last, "prev");
  if (beforeLast !== undefined) back.push(...(await readPages(get, beforeLast, "prev")));
  return { onward: onward.flatMap(idsOf), back: back.toReversed().flatMap(idsOf) };
}

async function readPages(
  get: (page: string) => Promise<RestTestAnswer>,
  from: string,
  rel: "next" | "prev",
): Promise<readonly RestTestAnswer[]> {
  const pages: RestTestAnswer[] = [];
  let url: string | undefined = from;
  while (url !== undefined) {
    if (pages.length === pagesMax) throw new Error(`${from} has no end`);
    const page: RestTestAnswer = await get(url);
    pages.push(page);
    url = findLink(page, rel);
  }
  return pages;
}

function idsOf({ body }: RestTestAnswer): readonly string[] {
  const items: readonly { readonly id: string }[] = Array.isArray(body) ? body : body.data;
  return items.map(({ id }) => id);
}
