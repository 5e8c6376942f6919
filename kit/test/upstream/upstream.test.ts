import { once } from "node:events";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import {
  createUpstream,
  type Upstream,
  type UpstreamObservation,
  type UpstreamOptions,
  type UpstreamRequest,
  type UpstreamResult,
} from "../../src/upstream.ts";
import { answerOk, answerUnavailable, type Replica, reset, silence, startReplica } from "./replica.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test("an answer comes whole: status, headers, body, whatever they are", async () => {
  const [replica] = await start(1);
  replica.answer = (response, request) => {
    response.writeHead(302, { location: "/elsewhere", "content-encoding": "gzip", "set-cookie": ["a=1", "b=2"] });
    response.write(`${request.method} ${request.url} `);
    request.pipe(response);
  };
  const { upstream } = open([replica.url]);
  const result = await upstream.send({ ...write, path: "/a?b=c", body: "text" });
  expect(result).toMatchObject({
    kind: "answered",
    status: 302,
    headers: { location: "/elsewhere", "content-encoding": "gzip", "set-cookie": ["a=1", "b=2"] },
  });
  expect(textOf(result)).toBe("POST /a?b=c text");
  expect(replica.calls).toBe(1);
});

test("without a path a request goes to the replica's own", async () => {
  const [replica] = await start(1);
  replica.answer = (response, request) => void response.end(request.url);
  const { upstream } = open([`${replica.url}/graphql?v=1`]);
  const { path: _, ...pathless } = read;
  expect(textOf(await upstream.send(pathless))).toBe("/graphql?v=1");
});

test("of two replicas at random the one with less under way is chosen", async () => {
  const replicas = await start(3);
  const arrived = Promise.all(replicas.slice(0, 2).map((replica) => silence(replica)));
  const draws = [0, 0, 0.4, 0, 0, 0.9, 0.4, 0.9];
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { random: () => draws.shift() ?? 0 },
  );
  // Draws 0, 0 look at the first and the second; 0.4, 0 at the second and the third; 0.4, 0.9 at the second and the first.
  const held = [upstream.send(read), upstream.send(read)];
  const answers = await arrived;
  expect(replicas.map(({ calls }) => calls)).toEqual([1, 1, 0]);
  await upstream.send(read);
  expect(replicas.map(({ calls }) => calls)).toEqual([1, 1, 1]);
  for (const answer of answers) answer.end();
  await Promise.all(held);
});

test("load spreads: of a slow and two quick replicas the slow one gets the least", async () => {
  const [slow, ...quick] = await start(3);
  slow.answer = (response) => void setTimeout(() => response.end(), 20);
  const { upstream } = open([slow, ...quick].map(({ url }) => url));
  await stream(600, 16, () => upstream.send(read));
  const [first = 0, second = 0] = quick.map(({ calls }) => calls);
  expect(slow.calls + first + second).toBe(600);
  expect(slow.calls * 3).toBeLessThan(Math.min(first, second));
  expect(Math.max(first, second)).toBeLessThan(Math.min(first, second) * 2);
});

test("no read is lost when a replica is killed under a stream of reads", async () => {
  const [doomed, other] = await start(2);
  const { upstream, seen } = open([doomed.url, other.url]);
  let sent = 0;
  const results = await stream(3_000, 32, () => {
    if (++sent === 1_000) void doomed.kill();
    return upstream.send(read);
  });
  expect(failuresOf(results)).toEqual([]);
  expect(seen.filter(({ kind }) => kind === "replica-ejected")).toHaveLength(1);
  expect(doomed.calls + other.calls).toBeLessThan(3_000 * 1.2);
});

test("a mutation is never sent twice, whatever breaks", async () => {
  const replicas = await start(2);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  for (const answer of [reset, answerUnavailable]) {
    for (const replica of replicas) replica.answer = answer;
    await stream(100, 8, () => upstream.send(write));
  }
  expect(replicas[0].calls + replicas[1].calls).toBe(200);
  expect(seen.map(({ kind }) => kind)).not.toContain("retried");
});

test("a mutation whose connection was refused goes to another replica, since nothing was sent", async () => {
  const [down, up] = await start(2);
  await down.kill();
  const { upstream } = open([down.url, up.url]);
  const results = await stream(50, 4, () => upstream.send(write));
  expect(failuresOf(results)).toEqual([]);
  expect(up.calls).toBe(50);
});

test("five resets in a hundred are seen by one caller in a thousand at the most, and cost a fifth more calls at the most", async () => {
  const draw = createDraws(7);
  const replicas = await start(2, (response, request) => (draw() < 0.05 ? reset : answerOk)(response, request));
  // No savings to speak of: the share alone has to do.
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0.1, perSecond: 0, burstMax: 20 }, random: draw },
  );
  const results = await stream(5_000, 16, () => upstream.send(read));
  const calls = replicas[0].calls + replicas[1].calls;
  expect(failuresOf(results).length).toBeLessThanOrEqual(5);
  expect(calls).toBeGreaterThan(5_000 * 1.03);
  expect(calls).toBeLessThanOrEqual(5_000 * 1.2);
});

test("a single replica's broken connection is tried once more too, what it refuses or says itself is not", async () => {
  const [replica] = await start(1);
  const { upstream, seen } = open([replica.url]);
  replica.answer = (response, request) => {
    replica.answer = answerOk;
    reset(response, request);
  };
  expect(await upstream.send(read)).toMatchObject({ kind: "answered", status: 200 });
  expect(seen).toEqual([{ kind: "retried", replica: `${replica.url}/`, reason: "reset", status: undefined }]);
  replica.answer = answerUnavailable;
  expect(await upstream.send(read)).toMatchObject({ kind: "answered", status: 503 });
  expect(replica.calls).toBe(3);
  await replica.kill();
  // The kept connection breaks first; after that there is nobody to connect to.
  await upstream.send(read);
  seen.length = 0;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
  expect(seen).toEqual([]);
});

test("a read that a replica is too busy for is answered by another", async () => {
  const [busy, free] = await start(2);
  busy.answer = answerUnavailable;
  const { upstream } = open([busy.url, free.url], { random: () => 0 });
  expect(await upstream.send(read)).toMatchObject({ status: 200 });
  expect([busy.calls, free.calls]).toEqual([1, 1]);
});

test("when the budget is spent, failures are final", async () => {
  const replicas = await start(2, reset);
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 3 } },
  );
  const results = await stream(20, 1, () => upstream.send(read));
  expect(failuresOf(results)).toEqual(Array.from({ length: 20 }, () => "reset"));
  expect(replicas[0].calls + replicas[1].calls).toBe(23);
});

test("a replica that keeps failing is left out, probed after a pause that grows, and taken back", async () => {
  const [bad, good] = await start(2);
  const clock = { nowMs: 0 };
  const { upstream, seen } = open([bad.url, good.url], { nowMs: () => clock.nowMs, random: () => 0 });
  const callsOf = async (replica: Replica, send: () => Promise<unknown>) => {
    const before = replica.calls;
    await send();
    return replica.calls - before;
  };
  const ten = () => stream(10, 1, () => upstream.send(read));
  bad.answer = answerUnavailable;
  expect(await callsOf(bad, ten)).toBe(5);
  expect(await callsOf(bad, ten)).toBe(0);
  clock.nowMs = 1_000;
  expect(await callsOf(bad, ten)).toBe(1);
  clock.nowMs = 2_999;
  expect(await callsOf(bad, ten)).toBe(0);
  bad.answer = answerOk;
  clock.nowMs = 3_000;
  expect(await callsOf(bad, ten)).toBe(10);
  expect(seen.filter(({ kind }) => kind !== "retried")).toEqual([
    { kind: "replica-ejected", replica: `${bad.url}/`, pauseMs: 1_000, cause: expect.any(Error) },
    { kind: "replica-back", replica: `${bad.url}/` },
  ]);
});

test("a mutation does not probe", async () => {
  const [bad, good] = await start(2);
  const clock = { nowMs: 0 };
  const { upstream } = open([bad.url, good.url], { nowMs: () => clock.nowMs, random: () => 0 });
  bad.answer = answerUnavailable;
  await stream(10, 1, () => upstream.send(read));
  clock.nowMs = 5_000;
  const results = await stream(10, 1, () => upstream.send(write));
  expect(results.every((result) => result.kind === "answered" && result.status === 200)).toBe(true);
  expect(bad.calls).toBe(5);
});

test("when the last replica fails too, the one that was left out is tried at once", async () => {
  const [first, second] = await start(2);
  const { upstream, seen } = open([first.url, second.url], { nowMs: () => 0, random: () => 0 });
  first.answer = answerUnavailable;
  await stream(10, 1, () => upstream.send(read));
  first.answer = answerOk;
  second.answer = answerUnavailable;
  const results = await stream(10, 1, () => upstream.send(read));
  expect(results.map((result) => result.kind === "answered" && result.status)).toEqual([
    ...[503, 503, 503, 503, 503],
    ...[200, 200, 200, 200, 200],
  ]);
  expect(seen.map(({ kind }) => kind)).toContain("replica-back");
});

test("a write that the last replica refuses goes to the one that was left out, rather than nowhere", async () => {
  const [first, second] = await start(2);
  const { upstream } = open([first.url, second.url], { nowMs: () => 0, random: () => 0 });
  first.answer = answerUnavailable;
  await stream(5, 1, () => upstream.send(write));
  first.answer = answerOk;
  await second.kill();
  expect(await upstream.send(write)).toMatchObject({ kind: "answered", status: 200 });
  expect([first.calls, second.calls]).toEqual([6, 0]);
});

test("all down is refused at once, and all of it: nothing waits, nothing is left out", async () => {
  const replicas = await start(3);
  await Promise.all(replicas.map((replica) => replica.kill()));
  const { upstream } = open(replicas.map(({ url }) => url));
  const results = await stream(100, 10, () => upstream.send(read));
  expect(failuresOf(results)).toEqual(Array.from({ length: 100 }, () => "refused"));
  await restart(replicas[1]);
  expect(failuresOf(await stream(100, 10, () => upstream.send(read))).length).toBeLessThan(50);
  expect(failuresOf(await stream(100, 10, () => upstream.send(write)))).toEqual([]);
});

test("a silent replica is given up at the deadline, and told", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream } = open([replica.url]);
  const sent = upstream.send({ ...read, timeoutMs: 50 });
  const closed = once(await silent, "close");
  expect(await sent).toMatchObject({ kind: "failed", reason: "timeout" });
  await closed;
  expect(replica.calls).toBe(1);
});

test("a body that drips is given up at the deadline", async () => {
  const [replica] = await start(1);
  replica.answer = (response) => void response.write("a");
  const { upstream } = open([replica.url]);
  expect(await upstream.send({ ...read, timeoutMs: 50 })).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("a replica that is frozen is left out", async () => {
  const [frozen, alive] = await start(2);
  frozen.answer = () => {};
  const { upstream, seen } = open([frozen.url, alive.url], { random: () => 0 });
  await stream(5, 1, () => upstream.send({ ...read, timeoutMs: 20 }));
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-ejected"]);
  expect(await upstream.send(read)).toMatchObject({ kind: "answered" });
});

test("a caller that goes is answered at once, and the replica learns of it", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream, seen } = open([replica.url]);
  const caller = new AbortController();
  const sent = upstream.send({ ...read, signal: caller.signal });
  const closed = once(await silent, "close");
  caller.abort("gone");
  expect(await sent).toEqual({ kind: "failed", reason: "aborted", cause: "gone" });
  await closed;
  expect(seen).toEqual([]);
});

test("what was aborted before is not sent", async () => {
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  const result = await upstream.send({ ...read, signal: AbortSignal.abort("gone") });
  expect(result).toEqual({ kind: "failed", reason: "aborted", cause: "gone" });
  expect(replica.calls).toBe(0);
});

test("what is aborted while it connects is not sent", async () => {
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  const caller = new AbortController();
  const sent = upstream.send({ ...write, signal: caller.signal });
  caller.abort("gone");
  expect(await sent).toMatchObject({ reason: "aborted" });
  await upstream.send(read);
  expect(replica.calls).toBe(1);
});

test.each([
  ["at once when its head says so", { "content-length": "1001" }, 1],
  ["when it gets there", {}, 1_001],
])("an answer over the cap is cut %s, and not asked for again", async (_, headers, bytes) => {
  const replicas = await start(2, (response) => {
    response.writeHead(200, headers).write(Buffer.alloc(bytes));
  });
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { bodyBytesMax: 1_000 },
  );
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "too-large" });
  expect(replicas[0].calls + replicas[1].calls).toBe(1);
});

test("an answer of just the cap comes, and an answer to HEAD has no body to cut", async () => {
  const [replica] = await start(1);
  replica.answer = (response, request) =>
    void response
      .writeHead(200, { "content-length": "1000" })
      .end(request.method === "HEAD" ? "" : Buffer.alloc(1_000));
  const { upstream } = open([replica.url], { bodyBytesMax: 1_000 });
  expect(await upstream.send(read)).toMatchObject({ body: Buffer.alloc(1_000) });
  replica.answer = (response) => void response.writeHead(200, { "content-length": "5000" }).end();
  expect(await upstream.send({ ...read, method: "HEAD" })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
});

test("early hints are not the answer", async () => {
  const [replica] = await start(1);
  replica.answer = (response) => {
    response.writeEarlyHints({ link: "</a>; rel=preload" });
    response.end("ok");
  };
  const { upstream } = open([replica.url]);
  expect(await upstream.send(read)).toMatchObject({ kind: "answered", status: 200, body: Buffer.from("ok") });
});

test("an answer that stops short is a broken one", async () => {
  const [replica] = await start(1);
  replica.answer = (response) => {
    response.writeHead(200, { "content-length": "10" }).write("half");
    setImmediate(() => response.socket?.end());
  };
  const { upstream } = open([replica.url]);
  expect(await upstream.send(write)).toMatchObject({ kind: "failed", reason: "reset" });
});

test("what is no HTTP is a broken answer", async () => {
  const url = await startNonsense();
  const { upstream } = open([url]);
  expect(await upstream.send(write)).toMatchObject({
    kind: "failed",
    reason: "reset",
    cause: { name: "HTTPParserError" },
  });
});

test("more than may be under way fail at once, and room comes back", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream } = open([replica.url], { requestsMax: 1 });
  const held = upstream.send(read);
  const answer = await silent;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "overloaded" });
  replica.answer = answerOk;
  answer.end();
  await held;
  expect(await upstream.send(read)).toMatchObject({ kind: "answered" });
  expect(replica.calls).toBe(2);
});

test("a request that cannot be put on the wire is thrown back, and no replica blamed", async () => {
  const [replica] = await start(1);
  const { upstream, seen } = open([replica.url]);
  await expect(upstream.send({ ...read, headers: { a: "b\r\nc: d" } })).rejects.toThrow("invalid a header");
  expect([replica.calls, seen]).toEqual([0, []]);
});

// Only there are all of 127.0.0.0/8 this machine's own.
test.runIf(process.platform === "linux")("replicas come and go with the addresses of their name", async () => {
  const [first] = await start(1);
  const second = await startReplica({ host: "127.0.0.2", port: first.port });
  closing.push(second.kill);
  const clock = { nowMs: 0 };
  let addresses = ["127.0.0.1"];
  const { upstream } = open([`http://service.test:${first.port}`], {
    nowMs: () => clock.nowMs,
    lookup: () => Promise.resolve(addresses),
  });
  const hosts: unknown[] = [];
  first.answer = (response, request) => void response.end(`${hosts.push(request.headers.host)}`);
  const callsAfter = async (next: string[]) => {
    addresses = next;
    clock.nowMs += 5_000;
    await upstream.send(read);
    const before = [first.calls, second.calls] as const;
    await stream(40, 4, () => upstream.send(read));
    return [first.calls - before[0], second.calls - before[1]] as const;
  };
  expect(await callsAfter(["127.0.0.1"])).toEqual([40, 0]);
  const [some, others] = await callsAfter(["127.0.0.1", "127.0.0.2"]);
  expect(Math.min(some, others)).toBeGreaterThan(5);
  // The second of two requests goes where nothing is under way: one of them is held by the first replica.
  const arrived = silence(first);
  const both = [upstream.send(read), upstream.send(read)];
  const answer = await arrived;
  await Promise.race(both);
  expect(await callsAfter(["127.0.0.2"])).toEqual([0, 40]);
  answer.end("still there");
  expect((await Promise.all(both)).map(textOf)).toContain("still there");
  expect(new Set(hosts)).toEqual(new Set([`service.test:${first.port}`]));
});

test("a name without any address is refused, and seen", async () => {
  const { upstream, seen } = open(["http://service.test"], { lookup: () => Promise.reject(new Error("ENOTFOUND")) });
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
  expect(seen).toEqual([{ kind: "lookup-failed", host: "service.test", cause: expect.any(Error) }]);
});

test("a lookup that hangs is given up at the deadline", async () => {
  const { upstream } = open(["http://service.test"], { lookup: () => new Promise(() => {}) });
  expect(await upstream.send({ ...read, timeoutMs: 20 })).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("the machine's own lookup finds localhost, by whichever family somebody listens", async () => {
  const [replica] = await start(1);
  const { upstream } = open([`http://localhost:${replica.port}`]);
  expect(failuresOf(await stream(10, 1, () => upstream.send(write)))).toEqual([]);
});

test("closing waits for what is under way", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream } = open([replica.url]);
  const held = upstream.send(read);
  const answer = await silent;
  const closed = upstream.close();
  answer.end("ok");
  expect(textOf(await held)).toBe("ok");
  await closed;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
});

const read: UpstreamRequest = { method: "GET", path: "/", headers: {}, isIdempotent: true, timeoutMs: 10_000 };
const write: UpstreamRequest = { ...read, method: "POST", isIdempotent: false, body: "{}" };

function open(
  urls: readonly string[],
  options: Partial<UpstreamOptions> = {},
): { upstream: Upstream; seen: UpstreamObservation[] } {
  const seen: UpstreamObservation[] = [];
  const upstream = createUpstream({ urls, bodyBytesMax: 100_000, observe: (what) => void seen.push(what), ...options });
  return { upstream, seen };
}

async function start(count: number, answer = answerOk): Promise<[Replica, Replica, ...Replica[]]> {
  const replicas = await Promise.all(Array.from({ length: count }, () => startReplica({ answer })));
  closing.push(() => Promise.all(replicas.map((replica) => replica.kill())));
  return replicas as [Replica, Replica, ...Replica[]];
}

async function restart({ port }: Replica): Promise<void> {
  closing.push((await startReplica({ port })).kill);
}

async function startNonsense(): Promise<string> {
  const server: Server = createServer(
    (socket) =>
      void socket
        .on("error", () => {})
        .resume()
        .end("<html>\r\n\r\n"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends `count` requests, `width` at a time. */
async function stream(count: number, width: number, send: () => Promise<UpstreamResult>): Promise<UpstreamResult[]> {
  const results: UpstreamResult[] = [];
  let begun = 0;
  const run = async () => {
    while (begun++ < count) results.push(await send());
  };
  await Promise.all(Array.from({ length: width }, run));
  return results;
}

function failuresOf(results: readonly UpstreamResult[]): readonly string[] {
  return results.flatMap((result) => (result.kind === "failed" ? [result.reason] : []));
}

function textOf(result: UpstreamResult): string | undefined {
  return result.kind === "answered" ? result.body.toString() : undefined;
}

/** Repeatable numbers in [0, 1): mulberry32. */
function createDraws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
