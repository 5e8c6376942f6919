import type { HttpClient } from "../processes/http-client.ts";
import { markOf } from "./journey.ts";
import { writerId } from "./seeded.ts";

export interface Audit {
  /** Comments of this run that are there, each text once. */
  readonly found: number;
  /** Confirmed, and not there. */
  readonly lost: readonly string[];
  /** There more than once. */
  readonly doubled: readonly string[];
}

const pagesMax = 1_000;

/** Compares what was confirmed with what the REST door lists. */
export async function auditComments(client: HttpClient, run: string, confirmed: ReadonlySet<string>): Promise<Audit> {
  const texts = await listComments(client, markOf(run));
  const found = new Set(texts);
  const doubled = texts.filter((text, at) => texts.indexOf(text) !== at);
  return { found: found.size, lost: [...confirmed].filter((text) => !found.has(text)), doubled };
}

/** Newest first, so they end where a page has none of ours. */
async function listComments(client: HttpClient, mark: string): Promise<readonly string[]> {
  const texts: string[] = [];
  let path: string | undefined = `/v1/comments?authorId=${writerId}&limit=100`;
  for (let page = 0; path !== undefined && page < pagesMax; page++) {
    const { status, headers, text } = await client.send({ method: "GET", path });
    if (status !== 200) throw new Error(`GET ${path} was answered with ${status}: ${text.slice(0, 200)}`);
    const ours = (JSON.parse(text) as readonly { readonly text: string }[])
      .map((comment) => comment.text)
      .filter((one) => one.startsWith(mark));
    texts.push(...ours);
    path = ours.length === 0 ? undefined : /<([^>]+)>; rel="next"/.exec([headers.link].flat().join(", "))?.[1];
  }
  return texts;
}
