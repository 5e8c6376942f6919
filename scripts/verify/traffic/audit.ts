// Checks that each confirmed comment is stored once.
import type { HttpClient, HttpClientResponse } from "./http-client.ts";
import { writerId } from "./seeded.ts";

export interface CommentAudit {
  /** The number of different texts of this run that are stored. */
  readonly stored: number;
  /** Confirmed texts that are not stored. */
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
}

/** How the texts of the comments of a run begin. */
export function textPrefixOf(run: string): string {
  return `Written by ${run}:`;
}

/** Ends a pagination that would not end. If a run writes more comments than these pages have (100,000), the others are reported as lost. */
const pagesMax = 1_000;
const nextLink = /<([^>]+)>; rel="next"/;

/**
 * Compares the texts of confirmed comments with those that the REST proxy lists.
 * @param run the identifier of the run.
 */
export async function auditComments(
  client: HttpClient,
  run: string,
  confirmed: ReadonlySet<string>,
): Promise<CommentAudit> {
  const storedTexts = await listCommentTexts(client, textPrefixOf(run));
  const differentTexts = new Set(storedTexts);
  return {
    stored: differentTexts.size,
    lost: [...confirmed].filter((text) => !differentTexts.has(text)),
    duplicated: storedTexts.filter((text, index) => storedTexts.indexOf(text) !== index),
  };
}

/** Comments are listed newest first, so the first page without a comment of this run is the last to read. */
async function listCommentTexts(client: HttpClient, prefix: string): Promise<readonly string[]> {
  const texts: string[] = [];
  let path: string | undefined = `/v1/comments?authorId=${writerId}&limit=100`;
  for (let page = 0; path !== undefined && page < pagesMax; page++) {
    const response = await client.send({ method: "GET", path });
    if (response.status !== 200) {
      throw new Error(`GET ${path} responded with ${response.status}: ${response.text.slice(0, 200)}`);
    }
    const comments = JSON.parse(response.text) as readonly { readonly text: string }[];
    const textsOfRun = comments.map(({ text }) => text).filter((text) => text.startsWith(prefix));
    texts.push(...textsOfRun);
    path = textsOfRun.length === 0 ? undefined : findNextPagePath(response);
  }
  return texts;
}

function findNextPagePath({ headers }: HttpClientResponse): string | undefined {
  const link = [headers.link].flat().join(", ");
  return nextLink.exec(link)?.[1];
}
