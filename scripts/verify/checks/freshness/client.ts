// The client of several parts of freshness: writes and reads the titles of posts through the gateway and the REST proxy.
import { receiptHeader } from "@tributary/kit/consistency/receipts";

interface WriteResult {
  readonly status: number;
  /** No connection was established: the write will never be executed. */
  readonly isUnsent?: boolean;
  /** Undefined unless the write was acknowledged; `noReceipt` if it was acknowledged without a receipt. */
  readonly receipt: string | undefined;
}

export interface ReadResult {
  readonly status: number;
  /** Undefined unless the post was read. */
  readonly title: string | undefined;
  readonly etag: string | undefined;
  /** `Cache-Status` of the REST proxy. */
  readonly cacheStatus: string;
}

interface RequestOptions {
  readonly receipt?: string | undefined;
  /** An ETag; without it a write by REST has `If-Match: *`. */
  readonly ifMatch?: string;
}

export const noReceipt = "none";
const timeoutMs = 15_000;
const noResponse = 0;
/** The status of a GraphQL result with errors, whose HTTP status is 200. */
const resultWithErrors = 503;
const unansweredRead: ReadResult = { status: noResponse, title: undefined, etag: undefined, cacheStatus: "" };
/** The author of all posts of these checks. */
const authorId = "1";

/** SQL that inserts `$1` published posts with the title "0". In the empty database of a part their ids are 1 to `$1`. */
export const insertPosts = `insert into posts (author_id, title, status, published_at)
  select ${authorId}, '0', 'PUBLISHED', now() from generate_series(1, $1::int)`;

export type PostClient = ReturnType<typeof createPostClient>;

/**
 * Writes and reads as the author of the posts; reads of lists and through GraphQL are anonymous. Without a response, the status of a result is 0.
 * @param token of the author.
 */
export function createPostClient(token: string) {
  const authorization = `Bearer ${token}`;
  return { ...createWrites(authorization), ...createReads(authorization) };
}

function toHeaders({ receipt, ifMatch }: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (receipt !== undefined) headers[receiptHeader] = receipt;
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  return headers;
}

async function request(
  url: string,
  init: RequestInit,
): Promise<{ readonly response: Response; readonly body: unknown }> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  return { response, body: await response.json().catch(() => undefined) };
}

function createWrites(authorization: string) {
  async function writeByRest(
    proxyUrl: string,
    id: string,
    title: string,
    options: RequestOptions = {},
  ): Promise<WriteResult> {
    try {
      const { response } = await request(`${proxyUrl}/v2/posts/${id}`, {
        method: "PATCH",
        headers: {
          authorization,
          "content-type": "application/merge-patch+json",
          "if-match": "*",
          ...toHeaders(options),
        },
        body: JSON.stringify({ title }),
      });
      return toWriteResult(response, response.ok);
    } catch (error) {
      return toFailedWrite(error);
    }
  }

  async function writeByGraphql(
    gatewayUrl: string,
    id: string,
    title: string,
    options: RequestOptions = {},
  ): Promise<WriteResult> {
    try {
      const { response, body } = await request(`${gatewayUrl}/graphql`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", ...toHeaders(options) },
        body: JSON.stringify({
          query: "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post { title } } }",
          variables: { input: { id, title } },
        }),
      });
      const { data } = body as { data?: { updatePost?: { post?: { title?: string } } } };
      const writtenTitle = data?.updatePost?.post?.title;
      return toWriteResult(response, writtenTitle === title);
    } catch (error) {
      return toFailedWrite(error);
    }
  }

  return { writeByRest, writeByGraphql };
}

function toWriteResult({ status, headers }: Response, isAcknowledged: boolean): WriteResult {
  if (!isAcknowledged) return { status, receipt: undefined };
  return { status, receipt: headers.get(receiptHeader) ?? noReceipt };
}

function toFailedWrite(error: unknown): WriteResult {
  // The cause of an error of `fetch` is the connection's error. `Object` makes an empty object of a missing cause.
  const { code } = Object((error as Error).cause) as { readonly code?: string };
  return { status: noResponse, isUnsent: code === "ECONNREFUSED", receipt: undefined };
}

function createReads(authorization: string) {
  async function readByRest(
    proxyUrl: string,
    id: string,
    options: RequestOptions & { readonly isAnonymous?: boolean } = {},
  ): Promise<ReadResult> {
    const headers = toHeaders(options);
    if (!options.isAnonymous) headers["authorization"] = authorization;
    try {
      const { response, body } = await request(`${proxyUrl}/v2/posts/${id}`, { headers });
      return {
        status: response.status,
        title: response.ok ? (body as { title: string }).title : undefined,
        etag: response.headers.get("etag") ?? undefined,
        cacheStatus: response.headers.get("cache-status") ?? "",
      };
    } catch {
      return unansweredRead;
    }
  }

  /** Reads the post from the list of its author's newest 100 posts; `title` is undefined if the list does not contain it. */
  async function readListByRest(proxyUrl: string, id: string, options: RequestOptions = {}): Promise<ReadResult> {
    try {
      const { response, body } = await request(`${proxyUrl}/v2/users/${authorId}/posts?limit=100`, {
        headers: toHeaders(options),
      });
      const posts = response.ok ? (body as { data: readonly { id: string; title: string }[] }).data : [];
      return {
        status: response.status,
        title: posts.find((post) => post.id === id)?.title,
        etag: undefined,
        cacheStatus: response.headers.get("cache-status") ?? "",
      };
    } catch {
      return unansweredRead;
    }
  }

  async function readByGraphql(gatewayUrl: string, id: string, options: RequestOptions = {}): Promise<ReadResult> {
    try {
      const { response, body } = await request(`${gatewayUrl}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json", ...toHeaders(options) },
        body: JSON.stringify({
          query: "query ($id: ID!) { post(id: $id) { title } }",
          variables: { id },
        }),
      });
      const { data, errors } = body as { data?: { post?: { title?: string } }; errors?: unknown };
      const status = errors === undefined ? response.status : resultWithErrors;
      return { status, title: data?.post?.title, etag: undefined, cacheStatus: "" };
    } catch {
      return unansweredRead;
    }
  }

  return { readByRest, readListByRest, readByGraphql };
}
