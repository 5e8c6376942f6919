// The traffic of the verification `rest`: one write or one read. A read must return at least what the ledger had confirmed before it started.
import { randomInt } from "node:crypto";
import type { ConfirmedState, Ledger, WritablePost } from "./ledger.ts";

export interface RestTrafficCounts {
  reads: number;
  writes: number;
  /** Reads that the proxy served from its cache. */
  hits: number;
  /** Descriptions of stale reads: the request, the returned state, the required state. */
  readonly stale: string[];
  /** Descriptions of responses with a status other than 2xx. */
  readonly failures: string[];
}

export interface RestTrafficOptions {
  readonly ledger: Ledger;
  readonly counts: RestTrafficCounts;
  /** The proxy's base URL. */
  readonly proxy: string;
  /** The base URLs for writes, with a version: the proxy's; in the control those of the services, so that the proxy does not see the writes. */
  readonly writeTo: { readonly posts: string; readonly comments: string };
  readonly token: string;
}

/** The maximum of failures that are recorded. Stale reads have no maximum, because their number is reported. */
const failuresMax = 20;
const failureTextCharsMax = 200;
const titlePattern = /^Number (\d+)$/;
/** In `Cache-Status`. */
const hitPattern = /(?:^|;)\s*hit/;

/** Changes the title of a reserved post or adds a comment. Resolves after the response, when the ledger is updated. */
export async function write(options: RestTrafficOptions): Promise<void> {
  const post = options.ledger.reserve();
  // All posts are reserved by other writes, so this operation becomes a read.
  if (!post) return read(options);
  options.counts.writes += 1;
  const writePost = randomInt(2) === 0 ? writeTitle : writeComment;
  try {
    await writePost(post, options);
  } catch (error) {
    post.release();
    throw error;
  }
}

async function writeTitle(post: WritablePost, { writeTo, token, counts }: RestTrafficOptions): Promise<void> {
  const title = post.confirmed.title + 1;
  const response = await fetch(`${writeTo.posts}/posts/${post.id}`, {
    method: "PATCH",
    headers: { ...authorization(token), "Content-Type": "application/merge-patch+json", "If-Match": post.etag },
    body: JSON.stringify({ title: `Number ${title}` }),
  });
  const text = await response.text();
  if (!response.ok) return endFailedWrite(post, response.status, text, counts);
  post.release({ etag: response.headers.get("etag") ?? "", confirmed: { ...post.confirmed, title } });
}

async function writeComment(post: WritablePost, { writeTo, token, counts }: RestTrafficOptions): Promise<void> {
  const response = await fetch(`${writeTo.comments}/comments`, {
    method: "POST",
    headers: { ...authorization(token), "Content-Type": "application/json" },
    body: JSON.stringify({ postId: post.id, text: "Read this." }),
  });
  const text = await response.text();
  if (!response.ok) return endFailedWrite(post, response.status, text, counts);
  const { id } = JSON.parse(text) as { readonly id: string };
  post.release({ confirmed: { ...post.confirmed, commentId: Number(id) } });
}

function endFailedWrite(post: WritablePost, status: number, text: string, counts: RestTrafficCounts): void {
  recordFailure(counts, `a write responded with ${status}: ${text.slice(0, failureTextCharsMax)}`);
  post.release();
}

function recordFailure({ failures }: RestTrafficCounts, failure: string): void {
  if (failures.length < failuresMax) failures.push(failure);
}

function authorization(token: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${token}` };
}

interface ReadRequest {
  readonly path: string;
  readonly accept: string;
  /** Describes what is older than the confirmed state; undefined if nothing is. */
  findStaleness(body: unknown): string | undefined;
}

/** Sends one of several requests for the data that is being written, and checks the response. */
export async function read({ ledger, counts, proxy }: RestTrafficOptions): Promise<void> {
  // Before the request is sent: the response need not include writes that are confirmed later.
  const states = ledger.confirmed();
  const { path, accept, findStaleness } = chooseReadRequest(states);
  counts.reads += 1;
  const response = await fetch(`${proxy}${path}`, { headers: { Accept: accept } });
  const body: unknown = await response.json();
  const isHit = hitPattern.test(response.headers.get("cache-status") ?? "");
  if (isHit) counts.hits += 1;
  if (!response.ok) return recordFailure(counts, `GET ${path} responded with ${response.status}`);
  const staleness = findStaleness(body);
  if (staleness !== undefined) counts.stale.push(`GET ${path} (${accept}): ${staleness}`);
}

/** A request for a random post, for its comments, or for all posts. */
function chooseReadRequest(states: ReadonlyMap<string, ConfirmedState>): ReadRequest {
  const [id, confirmed] = [...states][randomInt(states.size)] ?? ["", { title: 0, commentId: 0 }];
  const checkPost = (body: unknown) => checkTitle(body, confirmed);
  const checkPosts = (body: unknown) => checkTitles(listOf(body), states);
  const checkCommentList = (body: unknown) => checkComments(listOf(body), confirmed);
  const requests: readonly ReadRequest[] = [
    { path: `/v1/posts/${id}`, accept: "*/*", findStaleness: checkPost },
    { path: `/v2/posts/${id}`, accept: "application/json", findStaleness: checkPost },
    { path: `/posts/${id}`, accept: "application/vnd.tributary.v2+json", findStaleness: checkPost },
    { path: "/v1/posts?limit=100", accept: "*/*", findStaleness: checkPosts },
    { path: "/posts?limit=100", accept: "application/json;version=2", findStaleness: checkPosts },
    { path: `/v1/posts/${id}/comments?limit=1`, accept: "*/*", findStaleness: checkCommentList },
    { path: `/v2/comments?limit=1&postId=${id}`, accept: "*/*", findStaleness: checkCommentList },
  ];
  return requests[randomInt(requests.length)] as ReadRequest;
}

function checkTitle(post: unknown, confirmed: ConfirmedState | undefined): string | undefined {
  const { title = "" } = post as { readonly title?: string };
  const number = Number(titlePattern.exec(title)?.[1]);
  // The database has only the posts of this run.
  if (Number.isNaN(number)) return `"${title}" is not the title of a post of this run`;
  return confirmed && number < confirmed.title ? `number ${number}, after ${confirmed.title} was confirmed` : undefined;
}

/** @returns the first problem. */
function checkTitles(posts: readonly unknown[], states: ReadonlyMap<string, ConfirmedState>): string | undefined {
  for (const post of posts) {
    const problem = checkTitle(post, states.get(idOf(post)));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Comments are listed newest first. */
function checkComments(comments: readonly unknown[], { commentId }: ConfirmedState): string | undefined {
  const newest = Number(idOf(comments[0] ?? { id: "0" }));
  return newest < commentId ? `comment ${newest}, after ${commentId} was confirmed` : undefined;
}

/** Version 1 responds with an array, version 2 with an object that contains it. */
function listOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : (body as { readonly data: readonly unknown[] }).data;
}

function idOf(resource: unknown): string {
  return (resource as { readonly id: string }).id;
}
