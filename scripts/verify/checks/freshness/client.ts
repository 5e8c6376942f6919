// The client of several parts of freshness: writes and reads the titles of posts through the gateway and the REST proxy.
import { receiptHeader } from "@tributary/kit/consistency/receipts";

interface WriteResult {
  readonly status: number;
  /** No connection was established: the write will never be executed. */
  readonly isUnsent?: boolean;
  /** Undefined unless the write was acknowledged; "none" if it was acknowledged without a receipt. */
  readonly receipt: string | undefined;
  readonly etag: string | undefined;
}

export interface ReadResult {
  readonly status: number;
  /** Undefined unless the post was read. */
  readonly title: string | undefined;
  readonly etag: string | undefined;
  /** `Cache-Status` of the REST proxy. */
  readonly cacheStatus: string;
}

const timeoutMs = 15_000;

interface RequestOptions {
  readonly receipt?: string | undefined;
  readonly ifMatch?: string;
}

/**
 * Writes and reads as the author of the posts; reads of lists and through GraphQL are anonymous. Without a response, the status of a result is 0.
 * @param token of the author.
 */
export function createPostClient(token: string) {
  const authorization = `Bearer ${token}`;
  return { ...createWrites(authorization), ...createReads(authorization) };
}

function headersOf({ receipt, ifMatch }: RequestOptions): Record<string, string> {
  return {
    ...(receipt === undefined ? {} : { [receiptHeader]: receipt }),
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
  };
}

async function request(
  url: string,
  init: RequestInit,
): Promise<{ readonly response: Response; readonly body: unknown }> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  return { response, body: await response.json().catch(() => undefined) };
}

function createWrites(authorization: string) {
  async function writeByRest(proxy: string, id: string, title: string, o: RequestOptions = {}): Promise<WriteResult> {
    try {
      const { response } = await request(`${proxy}/v2/posts/${id}`, {
        method: "PATCH",
        headers: {
          ...{ authorization, "content-type": "application/merge-patch+json", "if-match": "*" },
          ...headersOf(o),
        },
        body: JSON.stringify({ title }),
      });
      return toWriteResult(response, response.ok);
    } catch (error) {
      return toFailedWrite(error);
    }
  }

  async function writeByGraphql(
    gateway: string,
    id: string,
    title: string,
    o: RequestOptions = {},
  ): Promise<WriteResult> {
    try {
      const { response, body } = await request(`${gateway}/graphql`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", ...headersOf(o) },
        body: JSON.stringify({
          query: "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post { title } } }",
          variables: { input: { id, title } },
        }),
      });
      const { data } = body as { data?: { updatePost?: { post?: { title?: string } } } };
      return toWriteResult(response, data?.updatePost?.post?.title === title);
    } catch (error) {
      return toFailedWrite(error);
    }
  }

  function toWriteResult({ status, headers }: Response, isAcknowledged: boolean): WriteResult {
    return {
      status,
      receipt: isAcknowledged ? (headers.get(receiptHeader) ?? "none") : undefined,
      etag: headers.get("etag") ?? undefined,
    };
  }

  return { writeByRest, writeByGraphql };
}

function createReads(authorization: string) {
  async function readByRest(
    proxy: string,
    id: string,
    o: RequestOptions & { readonly isAnonymous?: boolean } = {},
  ): Promise<ReadResult> {
    try {
      const { response, body } = await request(`${proxy}/v2/posts/${id}`, {
        headers: { ...(o.isAnonymous ? {} : { authorization }), ...headersOf(o) },
      });
      const title = response.ok ? (body as { title: string }).title : undefined;
      const { headers, status } = response;
      return { status, title, etag: headers.get("etag") ?? undefined, cacheStatus: headers.get("cache-status") ?? "" };
    } catch {
      return { status: 0, title: undefined, etag: undefined, cacheStatus: "" };
    }
  }

  /** Reads the post from the list of its author's newest 100 posts; `title` is undefined if the list does not contain it. */
  async function readListByRest(proxy: string, id: string, o: RequestOptions = {}): Promise<ReadResult> {
    try {
      const { response, body } = await request(`${proxy}/v2/users/${authorId}/posts?limit=100`, {
        headers: headersOf(o),
      });
      const items = response.ok ? (body as { data: readonly { id: string; title: string }[] }).data : [];
      const title = items.find((post) => post.id === id)?.title;
      return {
        status: response.status,
        title,
        etag: undefined,
        cacheStatus: response.headers.get("cache-status") ?? "",
      };
    } catch {
      return { status: 0, title: undefined, etag: undefined, cacheStatus: "" };
    }
  }

  /** A result with errors counts as status 503. */
  async function readByGraphql(gateway: string, id: string, o: RequestOptions = {}): Promise<ReadResult> {
    try {
      const { response, body } = await request(`${gateway}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headersOf(o) },
        body: JSON.stringify({
          query: "query ($id: ID!) { post(id: $id) { title } }",
          variables: { id },
        }),
      });
      const { data, errors } = body as { data?: { post?: { title?: string } }; errors?: unknown };
      const title = data?.post?.title;
      return { status: errors === undefined ? response.status : 503, title, etag: undefined, cacheStatus: "" };
    } catch {
      return { status: 0, title: undefined, etag: undefined, cacheStatus: "" };
    }
  }

  return { readByRest, readListByRest, readByGraphql };
}

function toFailedWrite(error: unknown): WriteResult {
  const { code } = Object((error as Error).cause) as { readonly code?: string };
  return { status: 0, isUnsent: code === "ECONNREFUSED", receipt: undefined, etag: undefined };
}

export type PostClient = ReturnType<typeof createPostClient>;

/** The author of all posts of these checks. */
const authorId = "1";

/** SQL that inserts `$1` published posts with the title "0". In the empty database of a part their ids are 1 to `$1`. */
export const insertPosts = `insert into posts (author_id, title, status, published_at)
  select ${authorId}, '0', 'PUBLISHED', now() from generate_series(1, $1::int)`;

/** @param fraction 0 to 1; 0.5 is the median. @returns NaN for an empty list. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}
