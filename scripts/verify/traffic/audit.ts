// Checks that each confirmed comment is stored once. traffic.ts calls it after the traffic, and the end-to-end tests after their requests.
import type { HttpClient } from "./http-client.ts";
import { textPrefixOf } from "./journey.ts";
import { writerId } from "./seeded.ts";

export interface CommentAudit {
  /** The number of different texts of this run that are stored. */
  readonly stored: number;
  /** Texts that were confirmed and are not stored. */
  readonly lost: readonly string[];
  /** Texts that are stored more than once. */
  readonly duplicated: readonly string[];
}

/** Ends a pagination that would not end. If a run writes more comments than these pages have (100,000), the others are reported as lost. */
const pagesMax = 1_000;

/**
 * Compares the confirmed comments with the comments that the REST proxy lists.
 * @param client of the REST proxy.
 * @param run the identifier of the run (journey.ts); its comments begin with `textPrefixOf(run)`.
 * @param confirmed the texts of the comments.
 */
export async function auditComments(
  client: HttpClient,
  run: string,
  confirmed: ReadonlySet<string>,
): Promise<CommentAudit> {
  const texts = await listComments(client, textPrefixOf(run));
  const stored = new Set(texts);
  const duplicated = texts.filter((text, at) => texts.indexOf(text) !== at);
  return { stored: stored.size, lost: [...confirmed].filter((text) => !stored.has(text)), duplicated };
}

/** Comments are listed newest first, so the first page without a comment of this run is the last to read. */
async function listComments(client: HttpClient, prefix: string): Promise<readonly string[]> {
  const texts: string[] = [];
  let path: string | undefined = `/v1/comments?authorId=${writerId}&limit=100`;
  for (let page = 0; path !== undefined && page < pagesMax; page++) {
    const { status, headers, text } = await client.send({ method: "GET", path });
    if (status !== 200) throw new Error(`GET ${path} responded with ${status}: ${text.slice(0, 200)}`);
    const comments = (JSON.parse(text) as readonly { readonly text: string }[])
      .map((comment) => comment.text)
      .filter((commentText) => commentText.startsWith(prefix));
    texts.push(...comments);
    path = comments.length === 0 ? undefined : /<([^>]+)>; rel="next"/.exec([headers.link].flat().join(", "))?.[1];
  }
  return texts;
}
