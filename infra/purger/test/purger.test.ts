import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { FeedEvent, FeedSubscriber } from "@tributary/kit/feed/change-feed";
import { startFeedListener } from "@tributary/kit/feed/feed-listener";
import { readFeedPosition } from "@tributary/kit/feed/position";
import { expect, onTestFinished, test } from "vitest";
import type { PurgeForm } from "../src/purge-request.ts";
import { createPurger, type PurgerObservation } from "../src/purger.ts";

const key = "a-key-for-tests-only";

test("a start purges the whole service, then each changed group at every cache, twice", async () => {
  const [first, second] = [await startCache(), await startCache()];
  const { feed, purger } = await start([first, second]);
  await expect.poll(() => purger.isReady()).toBe(true);
  for (const { purges } of [first, second]) expect(purges).toEqual(["service:posts"]);
  feed.send("posts:7", "posts");
  for (const { purges } of [first, second]) await expect.poll(() => purges).toEqual(["service:posts", "posts:7 posts"]);
  // The second purges, of which two can be in one request.
  const again = "service:posts posts:7 posts";
  for (const { purges } of [first, second]) await expect.poll(() => purges.slice(2).join(" ")).toBe(again);
});

test("a purger is ready only when every cache has purged every service", async () => {
  const cache = await startCache();
  cache.delayMs = 200;
  const users = await startFeed();
  const { purger } = await start([cache], { feedUrls: { users: [users.url] } });
  await expect.poll(() => purger.isReady()).toBe(true);
  expect(cache.accepted.join(" ").split(" ").toSorted()).toEqual(["service:posts", "service:users"]);
});

test("a gap of the feed purges the whole service", async () => {
  const cache = await startCache();
  const { feed } = await start([cache]);
  await expect.poll(() => cache.purges).toEqual(["service:posts"]);
  feed.reset();
  await expect.poll(() => cache.purges).toEqual(["service:posts", "service:posts"]);
});

test("a group whose name is too long for a request purges the whole service", async () => {
  const cache = await startCache();
  const { feed, purger } = await start([cache]);
  await expect.poll(() => purger.isReady()).toBe(true);
  const firstPurges = cache.purges.length;
  feed.send("posts:7", `posts:${"x".repeat(250)}`);
  await expect.poll(() => cache.purges.length).toBeGreaterThan(firstPurges);
  expect(new Set(cache.purges)).toEqual(new Set(["service:posts"]));
});

test.each([
  ["varnish", "PURGE", { "xkey-purge": "service:posts", authorization: "Bearer t" }, ""],
  ["fastly", "POST", { "surrogate-key": "service:posts", "fastly-key": "t" }, ""],
  [
    "cloudflare",
    "POST",
    { "content-type": "application/json", authorization: "Bearer t" },
    '{"tags":["service:posts"]}',
  ],
] as const)("the form of %s is %s with its headers", async (form, method, headers, body) => {
  const cache = await startCache();
  await start([cache], { form });
  await expect.poll(() => cache.requests).toHaveLength(1);
  expect(cache.requests[0]).toMatchObject({ method, url: "/purge", headers, body });
});

test("a cache that rejects purges gets them until it accepts them, and does not delay another", async () => {
  const [bad, good] = [await startCache(), await startCache()];
  bad.status = 503;
  const { feed, purger, observed } = await start([bad, good]);
  await expect.poll(() => bad.purges.length).toBeGreaterThan(1);
  expect(purger.isReady()).toBe(false);
  feed.send("posts:7");
  await expect.poll(() => good.purges).toContain("posts:7");
  bad.status = 200;
  await expect.poll(() => purger.isReady()).toBe(true);
  // While the whole service waits, its groups are not sent.
  expect(bad.purges).not.toContain("posts:7");
  expect(observed).toContainEqual({
    kind: "failed",
    url: bad.url,
    cause: new Error("The cache responded with status 503."),
  });
});

test("after Retry-After, a purge is not repeated before", async () => {
  const cache = await startCache();
  [cache.status, cache.retryAfter] = [429, "1"];
  await start([cache]);
  await expect.poll(() => cache.requests).toHaveLength(1);
  await expect.poll(() => cache.requests).toHaveLength(2);
  const [first, second] = cache.requests.map(({ atMs }) => atMs);
  expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(990);
});

test("more groups than the queue has room for become the whole service", async () => {
  const cache = await startCache();
  const { feed, observed } = await start([cache]);
  await expect.poll(() => cache.purges).toEqual(["service:posts"]);
  feed.send(...Array.from({ length: 1_001 }, (_, id) => `posts:${id}`));
  await expect.poll(() => cache.purges).toEqual(["service:posts", "service:posts"]);
  expect(observed).toContainEqual({ kind: "overflow", url: cache.url });
});

test("close sends what waits, the second purges too", async () => {
  const cache = await startCache();
  const { feed, purger } = await start([cache]);
  await expect.poll(() => purger.isReady()).toBe(true);
  feed.send("posts:7");
  await expect.poll(() => cache.purges).toContain("posts:7");
  await purger.close();
  expect(cache.purges.slice(2).join(" ")).toBe("service:posts posts:7");
});

test("close ends when no cache responds", async () => {
  const cache = await startCache();
  cache.status = 0;
  const { purger } = await start([cache], { requestTimeoutMs: 60_000 });
  await expect.poll(() => cache.requests).not.toEqual([]);
  await purger.close();
});

interface ReceivedPurge {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: object;
  readonly body: string;
  readonly atMs: number;
}

/** A cache that records the purges and responds with `status` after `delayMs`; with 0 not at all. */
async function startCache() {
  const requests: ReceivedPurge[] = [];
  const purges: string[] = [];
  const accepted: string[] = [];
  const server = createServer((request, response) => {
    void receive(request, response);
  });
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = request;
    const body = await text(request);
    purges.push(String(headers["xkey-purge"]));
    requests.push({ method, url, headers, body, atMs: performance.now() });
    if (cache.status === 0) return;
    await sleep(cache.delayMs);
    accepted.push(String(headers["xkey-purge"]));
    if (cache.retryAfter !== "") response.setHeader("retry-after", cache.retryAfter);
    response.writeHead(cache.status).end("Purged 1");
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const cache = {
    url: `http://127.0.0.1:${port}/purge`,
    requests,
    purges,
    accepted,
    status: 200,
    retryAfter: "",
    delayMs: 0,
  };
  return cache;
}

interface PurgerSettings {
  readonly form?: PurgeForm;
  readonly requestTimeoutMs?: number;
  /** Further feeds. */
  readonly feedUrls?: Readonly<Record<string, readonly string[]>>;
}

/** A purger that follows the feed of posts. */
async function start(
  caches: readonly { readonly url: string }[],
  { form = "varnish", requestTimeoutMs = 2_000, feedUrls = {} }: PurgerSettings = {},
) {
  const feed = await startFeed();
  const observed: PurgerObservation[] = [];
  const purger = createPurger({
    feedUrls: { posts: [feed.url], ...feedUrls },
    feedKey: key,
    targets: caches.map(({ url }) => ({ form, url, token: "t" })),
    queueMax: 1_000,
    requestTimeoutMs,
    observe: (observation) => observed.push(observation),
  });
  onTestFinished(() => purger.close());
  return { feed, purger, observed };
}

/** A feed without a database. It sends its position every 100 ms. */
async function startFeed() {
  const position = readFeedPosition("00000000-0000-0000-0000-000000000000/1:1:");
  if (!position) throw new Error("The position is invalid.");
  const subscribers = new Set<FeedSubscriber>();
  const send = (event: FeedEvent) => {
    for (const subscriber of subscribers) subscriber.send(event);
  };
  const feed = await startFeedListener({
    host: "127.0.0.1",
    port: 0,
    keys: [key],
    feed: {
      subscribe(subscriber) {
        subscribers.add(subscriber);
        subscriber.send({ kind: "reset", position });
        return () => subscribers.delete(subscriber);
      },
      onCommit() {},
      close: async () => {},
    },
  });
  const beat = setInterval(() => send({ kind: "changes", position, groups: [] }), 100);
  onTestFinished(async () => {
    clearInterval(beat);
    await feed.close();
  });
  return {
    url: feed.url,
    send: (...groups: readonly string[]) => send({ kind: "changes", position, groups }),
    reset: () => send({ kind: "reset", position }),
  };
}
