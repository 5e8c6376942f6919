import { randomInt } from "node:crypto";
import type { Floor, Ledger, WritablePost } from "./ledger.ts";

export interface Counts {
  reads: number;
  writes: number;
  /** Reads that the proxy answered from what it keeps. */
  hits: number;
  /** In words: what was asked, what was answered, what had to be there. */
  readonly stale: string[];
  /** Answers of another status than 2xx. */
  readonly failures: string[];
}

export interface TrafficOptions {
  readonly ledger: Ledger;
  readonly counts: Counts;
  /** Base address of the proxy. */
  readonly proxy: string;
  /** Where writes to posts and comments go: the proxy's address with its version, or a service's. */
  readonly writeTo: { readonly posts: string; readonly comments: string };
  readonly token: string;
}

const examplesMax = 20;
const titlePattern = /^Number (\d+)$/;

/** A title or a comment, of a post that nobody else is writing to. Resolves when it was answered, and the ledger knows. */
export async function write(o: TrafficOptions): Promise<void> {
  const post = o.ledger.take();
  if (!post) return read(o);
  o.counts.writes += 1;
  try {
    await (randomInt(2) === 0 ? writeTitle(post, o) : writeComment(post, o));
  } catch (error) {
    post.release();
    throw error;
  }
}

async function writeTitle(post: WritablePost, { writeTo, token, counts }: TrafficOptions): Promise<void> {
  const title = post.floor.title + 1;
  const answer = await fetch(`${writeTo.posts}/posts/${post.id}`, {
    method: "PATCH",
    headers: { ...authorization(token), "Content-Type": "application/merge-patch+json", "If-Match": post.etag },
    body: JSON.stringify({ title: `Number ${title}` }),
  });
  const text = await answer.text();
  if (!answer.ok) return fail(post, answer, text, counts);
  post.release({ etag: answer.headers.get("etag") ?? "", floor: { ...post.floor, title } });
}

async function writeComment(post: WritablePost, { writeTo, token, counts }: TrafficOptions): Promise<void> {
  const answer = await fetch(`${writeTo.comments}/comments`, {
    method: "POST",
    headers: { ...authorization(token), "Content-Type": "application/json" },
    body: JSON.stringify({ postId: post.id, text: "Read this." }),
  });
  const text = await answer.text();
  if (!answer.ok) return fail(post, answer, text, counts);
  const { id } = JSON.parse(text) as { readonly id: string };
  post.release({ floor: { ...post.floor, commentId: Number(id) } });
}

function fail(post: WritablePost, { status }: Response, text: string, { failures }: Counts): void {
  if (failures.length < examplesMax) failures.push(`a write was answered with ${status}: ${text.slice(0, 200)}`);
  post.release();
}

function authorization(token: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${token}` };
}

interface Question {
  readonly path: string;
  readonly accept: string;
  /** What of the answer is too old, in words; undefined when nothing is. */
  judge(body: unknown): string | undefined;
}

/** One of the ways to ask for what is being written. */
export async function read({ ledger, counts, proxy }: TrafficOptions): Promise<void> {
  const floors = ledger.floors();
  const { path, accept, judge } = chooseQuestion(floors);
  counts.reads += 1;
  const answer = await fetch(`${proxy}${path}`, { headers: { Accept: accept } });
  const body: unknown = await answer.json();
  if (/(?:^|;)\s*hit/.test(answer.headers.get("cache-status") ?? "")) counts.hits += 1;
  if (!answer.ok) {
    if (counts.failures.length < examplesMax) counts.failures.push(`GET ${path} was answered with ${answer.status}`);
    return;
  }
  const problem = judge(body);
  if (problem !== undefined) counts.stale.push(`GET ${path} (${accept}): ${problem}`);
}

function chooseQuestion(floors: ReadonlyMap<string, Floor>): Question {
  const [id, floor] = [...floors][randomInt(floors.size)] ?? ["", { title: 0, commentId: 0 }];
  const one = (body: unknown) => judgeTitle(body, floor);
  const all = (body: unknown) => firstOf(listOf(body).map((post) => judgeTitle(post, floors.get(idOf(post)))));
  const comments = (body: unknown) => judgeComments(listOf(body), floor);
  const questions: readonly Question[] = [
    { path: `/v1/posts/${id}`, accept: "*/*", judge: one },
    { path: `/v2/posts/${id}`, accept: "application/json", judge: one },
    { path: `/posts/${id}`, accept: "application/vnd.tributary.v2+json", judge: one },
    { path: "/v1/posts?limit=100", accept: "*/*", judge: all },
    { path: "/posts?limit=100", accept: "application/json;version=2", judge: all },
    { path: `/v1/posts/${id}/comments?limit=1`, accept: "*/*", judge: comments },
    { path: `/v2/comments?limit=1&postId=${id}`, accept: "*/*", judge: comments },
  ];
  return questions[randomInt(questions.length)] as Question;
}

function judgeTitle(post: unknown, floor: Floor | undefined): string | undefined {
  const { title = "" } = post as { readonly title?: string };
  const number = Number(titlePattern.exec(title)?.[1]);
  return floor && number < floor.title ? `number ${number}, after ${floor.title} was confirmed` : undefined;
}

/** Newest first. */
function judgeComments(comments: readonly unknown[], { commentId }: Floor): string | undefined {
  const newest = Number(idOf(comments[0] ?? { id: "0" }));
  return newest < commentId ? `comment ${newest}, after ${commentId} was confirmed` : undefined;
}

/** Version 1 answers with a list, version 2 with an object that has it. */
function listOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : (body as { readonly data: readonly unknown[] }).data;
}

function idOf(resource: unknown): string {
  return (resource as { readonly id: string }).id;
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
