// After the traffic: checks that the confirmed comments are stored, each once.
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

/** Against an endless list. Of more comments than on these pages, 100,000, the others would be reported as lost. */
const pagesMax = 1_000;

/** Compares the confirmed comments with those that the REST endpoint lists. */
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
