// After the response to a write, a read through the same REST proxy returns nothing older, also from its cache; with a receipt, a read through any.
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { receiptHeader } from "../../kit/src/consistency/receipts.ts";
import { createRandom } from "@tributary/kit/testing/random";
import { type Platform, startPlatform } from "./platform.ts";

const clientsCount = 16;

let platform: Platform;
let ada: string;
beforeAll(async () => {
  platform = await startPlatform(inject("postgresUrl"));
  ada = await platform.tokenOf("1");
});
afterAll(() => platform.stop());

test("no read through a REST proxy is older than a write through it that was confirmed before", async () => {
  const { stale, hits } = await writeAndRead({ writesByProxy: true, operations: 500 });
  expect(stale).toEqual([]);
  expect(hits).toBeGreaterThan(50);
});

test("the control: reads are older than writes that bypass the proxy", async () => {
  expect((await writeAndRead({ writesByProxy: false, operations: 200 })).stale.length).toBeGreaterThan(0);
});

test("after a change by GraphQL, PATCH succeeds with the ETag that GET has with the receipt", async () => {
  const { id } = await createPost();
  const query = "mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post { id } } }";
  for (let change = 0; change < 10; change++) {
    await platform.rest("GET", `/v2/posts/${id}`);
    const changed = await platform.graphql(query, {
      token: ada,
      variables: { input: { id, title: `By GraphQL ${change}` } },
    });
    const headers = { [receiptHeader]: changed.headers.get(receiptHeader) ?? "" };
    const read = await platform.rest("GET", `/v2/posts/${id}`, { headers });
    const patched = await platform.rest("PATCH", `/v2/posts/${id}`, {
      token: ada,
      body: { title: `By REST ${change}` },
      headers: { "if-match": read.headers.get("etag") ?? "none" },
    });
    expect(patched.status, patched.text).toBe(200);
  }
});

test("a draft is 404 for strangers and not for its author; after its publication it is 404 for no one", async () => {
  for (let round = 0; round < 10; round++) {
    const draft = await platform.rest("POST", "/v1/posts", { token: ada, body: { title: "Soon", body: "Text." } });
    const path = `/v1/posts/${draft.body.id}`;
    const strangers = await Promise.all(Array.from({ length: 5 }, () => platform.rest("GET", path)));
    expect(new Set(strangers.map(({ status }) => status))).toEqual(new Set([404]));
    expect((await platform.rest("GET", path, { token: ada })).status).toBe(200);
    const headers = { "if-match": draft.headers.get("etag") ?? "" };
    await platform.rest("PATCH", path, { token: ada, headers, body: { published: true } });
    expect((await platform.rest("GET", path)).status).toBe(200);
  }
});

/** A post, and what reads that start now must at least return: the number in its title, and its newest comment. */
interface WrittenPost {
  readonly id: string;
  etag: string;
  title: number;
  commentId: number;
  isReserved: boolean;
}

async function createPost(): Promise<WrittenPost> {
  const draft = await platform.rest("POST", "/v1/posts", { token: ada, body: { title: "Number 0", body: "Text." } });
  const { id } = draft.body;
  const headers = { "if-match": draft.headers.get("etag") ?? "" };
  const { headers: published } = await platform.rest("PATCH", `/v1/posts/${id}`, {
    token: ada,
    headers,
    body: { published: true },
  });
  return { id, etag: published.get("etag") ?? "", title: 0, commentId: 0, isReserved: false };
}

/** Sixteen clients write and read twenty posts at random. A post has one writer at a time. */
async function writeAndRead(o: { readonly writesByProxy: boolean; readonly operations: number }) {
  const random = createRandom(1);
  const posts = await Promise.all(Array.from({ length: 20 }, createPost));
  const stale: string[] = [];
  let hits = 0;
  let started = 0;
  const urlOf = (service: "posts" | "comments") =>
    o.writesByProxy ? `${platform.proxyUrl}/v1` : `${platform.services[service].url}/rest/v1`;

  async function write(post: WrittenPost): Promise<void> {
    post.isReserved = true;
    const authorization = `Bearer ${ada}`;
    const number = post.title + 1;
    const isComment = random(2) === 0;
    const response = isComment
      ? await fetch(`${urlOf("comments")}/comments`, {
          method: "POST",
          headers: { authorization, "content-type": "application/json" },
          body: JSON.stringify({ postId: post.id, text: "Read this." }),
        })
      : await fetch(`${urlOf("posts")}/posts/${post.id}`, {
          method: "PATCH",
          headers: { authorization, "content-type": "application/merge-patch+json", "if-match": post.etag },
          body: JSON.stringify({ title: `Number ${number}` }),
        });
    expect(response.ok, `a write responded with ${response.status}`).toBe(true);
    const { id } = (await response.json()) as { readonly id: string };
    if (isComment) post.commentId = Number(id);
    else Object.assign(post, { title: number, etag: response.headers.get("etag") });
    post.isReserved = false;
  }

  async function read(post: WrittenPost): Promise<void> {
    const { title, commentId, id } = post;
    const titles = new Map(posts.map((one) => [one.id, one.title]));
    const titleOf = (body: { title: string }) => Number(body.title.replace("Number ", ""));
    const isPostStale = (body: { title: string }) => titleOf(body) < title;
    const isListStale = (body: readonly { id: string; title: string }[]) =>
      body.some((one) => titles.has(one.id) && titleOf(one) < titles.get(one.id)!);
    const isCommentStale = (body: readonly { id: string }[]) => Number(body[0]?.id ?? 0) < commentId;
    const reads: readonly (readonly [path: string, accept: string, isStale: (body: never) => boolean])[] = [
      [`/v1/posts/${id}`, "*/*", isPostStale],
      [`/v2/posts/${id}`, "application/json", isPostStale],
      [`/posts/${id}`, "application/vnd.tributary.v2+json", isPostStale],
      ["/v1/posts?limit=100", "*/*", isListStale],
      ["/posts?limit=100", "application/json;version=2", ({ data }: { data: never }) => isListStale(data)],
      [`/v1/posts/${id}/comments?limit=1`, "*/*", isCommentStale],
      [`/v2/comments?limit=1&postId=${id}`, "*/*", ({ data }: { data: never }) => isCommentStale(data)],
    ];
    const [path, accept, isStale] = reads[random(reads.length)]!;
    const response = await platform.rest("GET", path, { headers: { accept } });
    expect(response.status, path).toBe(200);
    if (response.headers.get("cache-status")?.includes("; hit")) hits++;
    if (isStale(response.body as never)) stale.push(`GET ${path}: ${response.text.slice(0, 200)}`);
  }

  async function runClient(): Promise<void> {
    while (started++ < o.operations) {
      const post = posts[random(posts.length)]!;
      const isWrite = random(5) === 0 && !post.isReserved;
      await (isWrite ? write(post) : read(post));
    }
  }
  await Promise.all(Array.from({ length: clientsCount }, runClient));
  return { stale, hits };
}
