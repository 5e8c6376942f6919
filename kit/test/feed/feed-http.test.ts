// The feed between a service and its gateways and REST proxies: the listener of the one, and the follower of the others.
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { FeedEvent } from "../../src/feed/change-feed.ts";
import { createFeedFollower, type FeedFollowerOptions } from "../../src/feed/feed-follower.ts";
import { startFeedListener } from "../../src/feed/feed-listener.ts";
import { type FeedPosition, readFeedPosition, writeFeedPosition } from "../../src/feed/position.ts";
import { createManualFeed } from "../../src/testing/feed.ts";

const keys = ["the old key for tests", "the new key for tests"];
const [, key = ""] = keys;
const epoch = "0d9f1f0e-8c4c-4b8e-9d58-0f6c8a1f7b11";
/** Long enough for every test. */
const longMs = 600_000;

test("the stream needs one of the keys, and no other path exists", async () => {
  const { url, feed } = await startReplica();
  const statusOf = async (path: string, headers: Record<string, string>, method = "GET") =>
    (await fetch(`${url}${path}`, { method, headers })).status;
  expect(await statusOf("/changes", {})).toBe(401);
  for (const authorization of ["Bearer", "Bearer ", "Bearer wrong", `Basic ${key}`, `Bearer ${key}x`]) {
    expect([authorization, await statusOf("/changes", { authorization })]).toEqual([authorization, 401]);
  }
  expect(await statusOf("/other", { authorization: `Bearer ${key}` })).toBe(404);
  expect(await statusOf("/changes", { authorization: `Bearer ${key}` }, "POST")).toBe(404);
  expect(feed.resumed).toEqual([]);
  for (const known of keys) {
    const { status, headers } = await open(url, { authorization: `Bearer ${known}` });
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  }
});

test("each event has its position as id, and Last-Event-ID resumes from it", async () => {
  const { url, feed } = await startReplica();
  const response = await open(url);
  feed.send(reset(10));
  feed.send(changes(12, ["things", "things:1"]));
  expect(await readText(response, 2)).toBe(
    `event: reset\nid: ${epoch}/10:10:\ndata: {}\n\n` +
      `event: changes\nid: ${epoch}/12:12:\ndata: {"groups":["things","things:1"]}\n\n`,
  );
  await open(url, { authorization: `Bearer ${key}`, "last-event-id": `${epoch}/12:12:` });
  for (const text of ["nonsense", `${epoch}/12:10:`, "", `${epoch}/12:14:9`]) {
    await open(url, { authorization: `Bearer ${key}`, "last-event-id": text });
  }
  const resumed = feed.resumed.map((position) => position && writeFeedPosition(position));
  expect(resumed).toEqual([undefined, `${epoch}/12:12:`, undefined, undefined, undefined, undefined]);
});

test("a position with thousands of running transactions fits into Last-Event-ID", async () => {
  const { url, feed } = await startReplica();
  const running = Array.from({ length: 5_000 }, (_, n) => 1_000_000_000 + n);
  const text = `${epoch}/1000000000:2000000000:${running.join(",")}`;
  const { status } = await open(url, { authorization: `Bearer ${key}`, "last-event-id": text });
  expect([status, feed.resumed[0]?.snapshot.text.length]).toEqual([200, text.length - epoch.length - 1]);
});

test("a client that does not read is disconnected, and the others go on", async () => {
  const { url, feed } = await startReplica();
  const { hostname, port } = new URL(url);
  const slow = connect(Number(port), hostname).on("error", () => {});
  onTestFinished(() => void slow.destroy());
  slow.pause().write(`GET /changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await expect.poll(() => feed.subscribers.size).toBe(1);
  const follower = follow([url]);
  await expect.poll(() => feed.subscribers.size).toBe(2);
  const groups = Array.from({ length: 1_000 }, (_, n) => `things:${"x".repeat(200)}-${n}`);
  let xid = 10;
  await expect
    .poll(() => {
      feed.send(changes(++xid, groups));
      return feed.subscribers.size;
    })
    .toBe(1);
  // The kernel also buffers for the slow client.
  expect(xid).toBeGreaterThan(14);
  await expect.poll(() => follower.knows({ epoch, xid: xid - 1 })).toBe(true);
  expect(follower.states).toEqual(["up"]);
});

test("an event is written as text once for all clients", async () => {
  const { url, feed } = await startReplica();
  const responses = await Promise.all(Array.from({ length: 5 }, () => open(url)));
  let count = 0;
  const groups = { toJSON: () => (count++, ["things"]) } as unknown as readonly string[];
  feed.send(changes(12, groups));
  for (const response of responses) expect(await readText(response, 1)).toContain('{"groups":["things"]}');
  expect(count).toBe(1);
});

test("at most 256 clients are connected", async () => {
  const { url, feed } = await startReplica();
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: 256 }, () => connect(Number(port), hostname).on("error", () => {}));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets) {
    socket.write(`GET /changes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  }
  await expect.poll(() => feed.subscribers.size).toBe(256);
  expect((await open(url)).status).toBe(503);
  sockets[0]?.destroy();
  await expect.poll(async () => (await open(url)).status).toBe(200);
});

test("a follower reports the revoked subjects of each event, of a reset all", async () => {
  const { url, feed } = await startReplica();
  const revoked: unknown[] = [];
  follow([url], {
    onReset: (subjects) => revoked.push(["all", subjects]),
    onChanges: (groups, subjects) => revoked.push([groups, subjects]),
  });
  await expect.poll(() => feed.subscribers.size).toBe(1);
  for (const event of [reset(11), { ...reset(12), revoked: ["1", "2"] }, { ...changes(13, []), revoked: ["3"] }])
    feed.send(event);
  feed.send(changes(14, ["things"]));
  await expect
    .poll(() => revoked)
    .toEqual([
      ["all", []],
      ["all", ["1", "2"]],
      [[], ["3"]],
      [["things"], []],
    ]);
});

test("a follower reports each reset and change before it knows the position", async () => {
  const { url, feed } = await startReplica();
  const write = { epoch, xid: 11 };
  const known: boolean[] = [];
  const follower = follow([url], { onChanges: () => known.push(follower.knows(write)) });
  await expect.poll(() => feed.subscribers.size).toBe(1);
  expect([follower.isUp(), follower.states, follower.knows(write)]).toEqual([false, [], false]);
  feed.send(reset(11));
  await expect.poll(() => follower.isUp()).toBe(true);
  feed.send(changes(12, ["things"]));
  await expect.poll(() => follower.knows(write)).toBe(true);
  feed.send(changes(13, []));
  await expect.poll(() => follower.knows({ epoch, xid: 12 })).toBe(true);
  expect([known, follower.seen, follower.states]).toEqual([[false], ["reset", "things"], ["up"]]);
});

test("a follower resumes at another replica when its replica ends, without a reset", async () => {
  const replicas = [await startReplica(), await startReplica()];
  const follower = follow(replicas.map(({ url }) => url));
  const isConnected = ({ feed }: (typeof replicas)[number]) => feed.subscribers.size > 0;
  await expect.poll(() => replicas.some(isConnected)).toBe(true);
  const first = replicas.find(isConnected);
  const second = replicas.find((replica) => replica !== first);
  first?.feed.send(reset(10));
  await expect.poll(() => follower.isUp()).toBe(true);
  await first?.close();
  await expect.poll(() => second && isConnected(second)).toBe(true);
  expect(second?.feed.resumed.map((position) => position && writeFeedPosition(position))).toEqual([`${epoch}/10:10:`]);
  second?.feed.send(changes(12, ["things"]));
  await expect.poll(() => follower.isUp()).toBe(true);
  expect([follower.seen, follower.states]).toEqual([
    ["reset", "things"],
    ["up", "down", "up"],
  ]);
});

test("a feed that is silent for a second is down, and the follower connects again", async () => {
  const { url, feed, becomeSilent } = await startReplica();
  const follower = follow([url]);
  await expect.poll(() => feed.subscribers.size).toBe(1);
  feed.send(reset(10));
  await expect.poll(() => follower.states).toEqual(["up"]);
  becomeSilent();
  await expect.poll(() => follower.isUp()).toBe(false);
  await expect.poll(() => follower.states).toEqual(["up", "down"]);
  await expect.poll(() => feed.resumed.length).toBeGreaterThan(1);
  expect(feed.resumed[1]?.snapshot.text).toBe("10:10:");
});

test("after a pause of its process, a follower is not up before the next event", async () => {
  const { url, feed } = await startReplica();
  const follower = follow([url]);
  await expect.poll(() => feed.subscribers.size).toBe(1);
  feed.send(reset(10));
  await expect.poll(() => follower.isUp()).toBe(true);
  // Blocks the event loop.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
  expect(follower.isUp()).toBe(false);
  await expect.poll(() => follower.isUp()).toBe(true);
});

test("a follower whose first attempts fail reports once that the feed is down, and why", async () => {
  const { url } = await startReplica();
  const causes: unknown[] = [];
  const follower = follow([url], { key: "wrong", onState: (_, cause) => void causes.push(String(cause)) });
  await expect.poll(() => causes).toEqual(["Error: The feed responded with status 401."]);
  expect(follower.isUp()).toBe(false);
});

test("an event that the follower does not know ends the stream, so that no change is missed", async () => {
  const { url, feed } = await startReplica();
  const follower = follow([url]);
  await expect.poll(() => feed.subscribers.size).toBe(1);
  feed.send(reset(10));
  feed.send({ ...changes(12, []), kind: "newer" } as unknown as FeedEvent);
  await expect.poll(() => feed.resumed.length).toBe(2);
  expect(feed.resumed[1]?.snapshot.text).toBe("10:10:");
  expect(follower.states.slice(0, 2)).toEqual(["up", "down"]);
});

test("a wait ends when the write is known, and when the time is over", async () => {
  const { url, feed } = await startReplica();
  const follower = follow([url]);
  const write = { epoch, xid: 20 };
  await expect.poll(() => feed.subscribers.size).toBe(1);
  expect(await follower.waitFor(write, longMs)).toBe(false);
  feed.send(reset(10));
  await expect.poll(() => follower.isUp()).toBe(true);
  const waiting = follower.waitFor(write, longMs);
  let isDone = false;
  void waiting.then(() => (isDone = true));
  feed.send(changes(15, []));
  await expect.poll(() => follower.knows({ epoch, xid: 14 })).toBe(true);
  expect(isDone).toBe(false);
  feed.send(changes(21, []));
  expect(await waiting).toBe(true);
  expect(await follower.waitFor(write, longMs)).toBe(true);
  expect(await follower.waitFor({ epoch, xid: 99 }, 20)).toBe(false);
  expect(follower.isUp()).toBe(true);
});

test("a wait ends when the feed goes down or the follower is closed", async () => {
  const { url, feed, close } = await startReplica();
  const follower = follow([url]);
  await expect.poll(() => feed.subscribers.size).toBe(1);
  feed.send(reset(10));
  await expect.poll(() => follower.isUp()).toBe(true);
  const waiting = follower.waitFor({ epoch, xid: 20 }, longMs);
  await close();
  expect(await waiting).toBe(false);

  const other = await startReplica();
  const closed = follow([other.url]);
  await expect.poll(() => other.feed.subscribers.size).toBe(1);
  other.feed.send(reset(10));
  await expect.poll(() => closed.isUp()).toBe(true);
  const waitingForClosed = closed.waitFor({ epoch, xid: 20 }, longMs);
  await closed.close();
  expect(await waitingForClosed).toBe(false);
  // The process stops; the feed is not down.
  expect(closed.states).toEqual(["up"]);
});

test("at most 1,024 requests wait", async () => {
  const { url, feed } = await startReplica();
  const follower = follow([url]);
  await expect.poll(() => feed.subscribers.size).toBe(1);
  feed.send(reset(10));
  await expect.poll(() => follower.isUp()).toBe(true);
  const write = { epoch, xid: 20 };
  const waiting = Array.from({ length: 1_024 }, () => follower.waitFor(write, longMs));
  expect(await follower.waitFor(write, longMs)).toBe(false);
  feed.send(changes(21, []));
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
});

/** A replica of a service, whose events the test sends. Its feed repeats the last position, until it becomes silent. */
async function startReplica() {
  const feed = createManualFeed();
  const listener = await startFeedListener({ feed, host: "127.0.0.1", port: 0, keys });
  const timer = setInterval(() => feed.repeat(), 100);
  onTestFinished(() => {
    clearInterval(timer);
    return listener.close().catch(() => {});
  });
  return { feed, url: listener.url, close: () => listener.close(), becomeSilent: () => clearInterval(timer) };
}

function follow(urls: readonly string[], o: Partial<FeedFollowerOptions> = {}) {
  const [seen, states]: readonly [string[], string[]] = [[], []];
  const follower = createFeedFollower({
    urls,
    key,
    onReset: () => void seen.push("reset"),
    onState: (state) => void states.push(state),
    ...o,
    onChanges(groups, revoked) {
      o.onChanges?.(groups, revoked);
      seen.push(...groups);
    },
  });
  onTestFinished(() => follower.close());
  return { ...bind(follower), seen, states };
}

/** The methods of an object of a class, for a literal. */
function bind(follower: ReturnType<typeof createFeedFollower>) {
  return {
    isUp: () => follower.isUp(),
    knows: follower.knows.bind(follower),
    waitFor: follower.waitFor.bind(follower),
    close: () => follower.close(),
  };
}

async function open(url: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) {
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  return fetch(`${url}/changes`, { headers, signal: aborting.signal });
}

async function readText(response: Response, eventCount: number): Promise<string> {
  let text = "";
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split("\n\n").length > eventCount) break;
  }
  return text;
}

function reset(xmax: number): FeedEvent {
  return { kind: "reset", position: positionAt(xmax) };
}

function changes(xmax: number, groups: readonly string[]): FeedEvent {
  return { kind: "changes", position: positionAt(xmax), groups };
}

function positionAt(xmax: number): FeedPosition {
  const position = readFeedPosition(`${epoch}/${xmax}:${xmax}:`);
  if (!position) throw new Error(`No position at ${xmax}.`);
  return position;
}
