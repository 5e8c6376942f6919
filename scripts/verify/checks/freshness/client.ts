// The client of the parts of freshness: writes and reads the titles of posts through the gateway and the REST proxy.
import { receiptHeader } from "@tributary/kit/consistency/receipts";

interface WriteResult {
  /** 0 without a response. */
  readonly status: number;
  /** No connection was established: the write will never be executed. */
  readonly isUnsent: boolean;
  /** Undefined unless the write was acknowledged; `noReceipt` if it was acknowledged without a receipt. */
  readonly receipt: string | undefined;
}

export interface ReadResult {
  /** 0 without a response. */
  readonly status: number;
  /** Undefined unless the post was read. */
  readonly title: string | undefined;
}

export const noReceipt = "none";
const timeoutMs = 15_000;
/** The status of a GraphQL result with errors, whose HTTP status is 200. */
const resultWithErrors = 503;
/** The author of all posts of these checks. */
const authorId = "1";

/** SQL that inserts `$1` published posts with the title "0". In the empty database of a part their ids are 1 to `$1`. */
export const insertPosts = `insert into posts (author_id, title, status, published_at)
  select ${authorId}, '0', 'PUBLISHED', now() from generate_series(1, $1::int)`;

export type PostClient = ReturnType<typeof createPostClient>;

/** Writes and reads as the author of the posts; reads of lists and through GraphQL are anonymous. @param token of the author. */
export function createPostClient(token: string) {
  const authorization = `Bearer ${token}`;

  return {
    async writeByRest(proxyUrl: string, id: string, title: string): Promise<WriteResult> {
      const sent = await send(`${proxyUrl}/v2/posts/${id}`, {
        method: "PATCH",
        headers: { authorization, "content-type": "application/merge-patch+json", "if-match": "*" },
        body: JSON.stringify({ title }),
      });
      return toWriteResult(sent, sent.status === 200);
    },

    async writeByGraphql(gatewayUrl: string, id: string, title: string): Promise<WriteResult> {
      const query = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post { title } } }";
      const sent = await sendGraphql(gatewayUrl, { authorization }, query, { input: { id, title } });
      const data = sent.data as { updatePost?: { post?: { title: string } } } | undefined;
      return toWriteResult(sent, data?.updatePost?.post?.title === title);
    },

    async readByRest(
      proxyUrl: string,
      id: string,
      { receipt, isAnonymous = false }: ReadOptions = {},
    ): Promise<ReadResult> {
      const headers = { ...receiptHeaders(receipt), ...(isAnonymous ? {} : { authorization }) };
      const { status, body } = await send(`${proxyUrl}/v2/posts/${id}`, { headers });
      return { status, title: status === 200 ? (body as { title: string }).title : undefined };
    },

    /** Reads the post from the list of its author's newest 100 posts; `title` is undefined if the list does not contain it. */
    async readListByRest(proxyUrl: string, id: string, { receipt }: ReadOptions = {}): Promise<ReadResult> {
      const url = `${proxyUrl}/v2/users/${authorId}/posts?limit=100`;
      const { status, body } = await send(url, { headers: receiptHeaders(receipt) });
      const posts = status === 200 ? (body as { data: readonly { id: string; title: string }[] }).data : [];
      return { status, title: posts.find((post) => post.id === id)?.title };
    },

    async readByGraphql(gatewayUrl: string, id: string, { receipt }: ReadOptions = {}): Promise<ReadResult> {
      const query = "query ($id: ID!) { post(id: $id) { title } }";
      const { status, data } = await sendGraphql(gatewayUrl, receiptHeaders(receipt), query, { id });
      return { status, title: (data as { post?: { title: string } } | undefined)?.post?.title };
    },
  };
}

interface ReadOptions {
  readonly receipt?: string | undefined;
  readonly isAnonymous?: boolean;
}

interface Sent {
  /** 0 without a response. */
  readonly status: number;
  readonly isUnsent: boolean;
  readonly headers: Headers;
  readonly body: unknown;
}

async function send(url: string, init: RequestInit): Promise<Sent> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
    const { status, headers } = response;
    return { status, headers, isUnsent: false, body: await response.json().catch(() => undefined) };
  } catch (error) {
    const { code } = Object((error as Error).cause) as { readonly code?: string };
    return { status: 0, headers: new Headers(), isUnsent: code === "ECONNREFUSED", body: undefined };
  }
}

async function sendGraphql(gatewayUrl: string, headers: Record<string, string>, query: string, variables: object) {
  const sent = await send(`${gatewayUrl}/graphql`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = Object(sent.body) as { readonly data?: unknown; readonly errors?: unknown };
  return { ...sent, data, status: errors === undefined ? sent.status : resultWithErrors };
}

function receiptHeaders(receipt: string | undefined): Record<string, string> {
  return receipt === undefined ? {} : { [receiptHeader]: receipt };
}

function toWriteResult({ status, isUnsent, headers }: Sent, isAcknowledged: boolean): WriteResult {
  return { status, isUnsent, receipt: isAcknowledged ? (headers.get(receiptHeader) ?? noReceipt) : undefined };
}
