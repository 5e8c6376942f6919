import { expect, test } from "vitest";
import { startUnreachable } from "../../src/testing/unreachable-port.ts";
import type { UpstreamRequest, UpstreamResult } from "../../src/upstream/upstream.ts";
import {
  type ReplicaServer,
  respondAndClose,
  respondOk,
  respondUnavailable,
  startReplacement,
  start,
  holdResponse,
} from "./replica.ts";
import { failuresOf, open, read, sendRequests, write } from "./requests.ts";

test("a replica that keeps failing is ejected, probed after a growing pause, and restored", async () => {
  const [bad, good] = await start(2);
  const clock = { nowMs: 0 };
  const { upstream, seen } = open([bad.url, good.url], { nowMs: () => clock.nowMs, random: () => 0 });
  const countRequests = async (replica: ReplicaServer, send: () => Promise<unknown>) => {
    const before = replica.requests;
    await send();
    return replica.requests - before;
  };
  const ten = () => sendRequests(10, 1, () => upstream.send(read));
  bad.respond = respondUnavailable;
  expect(await countRequests(bad, ten)).toBe(5);
  expect(await countRequests(bad, ten)).toBe(0);
  clock.nowMs = 1_000;
  expect(await countRequests(bad, ten)).toBe(1);
  clock.nowMs = 2_999;
  expect(await countRequests(bad, ten)).toBe(0);
  bad.respond = respondOk;
  clock.nowMs = 3_000;
  expect(await countRequests(bad, ten)).toBe(10);
  expect(seen.filter(({ kind }) => kind !== "retried")).toEqual([
    { kind: "replica-ejected", replica: `${bad.url}/`, reason: "failing", pauseMs: 1_000, cause: expect.any(Error) },
    { kind: "replica-restored", replica: `${bad.url}/` },
  ]);
});

test("a draining replica gets two more requests at most", async () => {
  const [draining, other] = await start(2);
  const clock = { nowMs: 0 };
  const { upstream, seen } = open([draining.url, other.url], { nowMs: () => clock.nowMs, random: () => 0 });
  await upstream.send(write);
  draining.respond = respondAndClose;
  await sendRequests(20, 1, () => upstream.send(write));
  expect([draining.requests, other.requests]).toEqual([3, 18]);
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-draining"]);
  await draining.kill();
  await startReplacement(draining);
  clock.nowMs = 1_000;
  await sendRequests(1, 1, () => upstream.send(read));
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-draining", "replica-restored"]);
});

test("replicas that never keep a connection all get requests", async () => {
  const replicas = await start(3, respondAndClose);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  await sendRequests(300, 3, () => upstream.send(write));
  expect(seen).toEqual([]);
  expect(Math.min(...replicas.map(({ requests }) => requests))).toBeGreaterThan(50);
});

test.runIf(process.platform === "linux")(
  "after 500 ms without a connection a read or write goes to another replica, and two of them eject the replica",
  async () => {
    const eject = async (request: UpstreamRequest) => {
      const [unreachable, other] = await start(2);
      const { upstream, seen } = open([unreachable.url, other.url], { random: () => 0, connectTimeoutMs: 600_000 });
      await unreachable.kill();
      await startUnreachable(unreachable.port);
      expect(failuresOf(await sendRequests(10, 1, () => upstream.send(request)))).toEqual([]);
      expect(seen.map(({ kind }) => kind)).toEqual(["retried", "replica-ejected", "retried"]);
    };
    await Promise.all([eject(read), eject(write)]);
  },
);

test("while all replicas are draining, requests are still sent", async () => {
  const replicas = await start(2);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  await sendRequests(20, 1, () => upstream.send(write));
  for (const replica of replicas) replica.respond = respondAndClose;
  const results = await sendRequests(100, 1, () => upstream.send(write));
  expect(results.every((result) => result.kind === "response" && result.status === 200)).toBe(true);
  expect(seen.length).toBeLessThanOrEqual(1);
});

test("a write does not probe", async () => {
  const [bad, good] = await start(2);
  const clock = { nowMs: 0 };
  const { upstream } = open([bad.url, good.url], { nowMs: () => clock.nowMs, random: () => 0 });
  bad.respond = respondUnavailable;
  await sendRequests(10, 1, () => upstream.send(read));
  clock.nowMs = 5_000;
  const results = await sendRequests(10, 1, () => upstream.send(write));
  expect(results.every((result) => result.kind === "response" && result.status === 200)).toBe(true);
  expect(bad.requests).toBe(5);
});

test("when the last replica in service fails too, the ejected one is probed at once", async () => {
  const [first, second] = await start(2);
  const { upstream, seen } = open([first.url, second.url], { nowMs: () => 0, random: () => 0 });
  first.respond = respondUnavailable;
  await sendRequests(10, 1, () => upstream.send(read));
  first.respond = respondOk;
  second.respond = respondUnavailable;
  const results = await sendRequests(10, 1, () => upstream.send(read));
  expect(results.map((result) => result.kind === "response" && result.status)).toEqual([
    ...[503, 503, 503, 503, 503],
    ...[200, 200, 200, 200, 200],
  ]);
  expect(seen.map(({ kind }) => kind)).toContain("replica-restored");
});

test("a write whose connection the last replica in service refuses goes to the ejected one", async () => {
  const [first, second] = await start(2);
  const { upstream } = open([first.url, second.url], { nowMs: () => 0, random: () => 0 });
  first.respond = respondUnavailable;
  await sendRequests(5, 1, () => upstream.send(write));
  first.respond = respondOk;
  await second.kill();
  expect(await upstream.send(write)).toMatchObject({ kind: "response", status: 200 });
  expect([first.requests, second.requests]).toEqual([6, 0]);
});

test("while all replicas are down, requests are refused at once and no replica is ejected", async () => {
  const replicas = await start(3);
  await Promise.all(replicas.map((replica) => replica.kill()));
  // Time stands still, so the breaker stays closed.
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { nowMs: () => 0 },
  );
  const results = await sendRequests(100, 10, () => upstream.send(read));
  expect(failuresOf(results)).toEqual(Array.from({ length: 100 }, () => "refused"));
  await startReplacement(replicas[1]);
  expect(failuresOf(await sendRequests(100, 10, () => upstream.send(read))).length).toBeLessThan(50);
  expect(failuresOf(await sendRequests(100, 10, () => upstream.send(write)))).toEqual([]);
});

// Measured with replicas that queue, one of them half as large, at 1.2 to 3 times the load that both can serve: 24 to 70 requests per second had
// a response in time, since the smaller replica's queue empties while it is ejected; 0 to 86 if timeouts do not eject.
test("no replica is ejected while all are overloaded", async () => {
  const replicas = await start(3, respondUnavailable);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  await sendRequests(200, 8, () => upstream.send(write));
  expect(seen).toEqual([]);
  for (const replica of replicas) replica.respond = respondOk;
  expect((await sendRequests(20, 1, () => upstream.send(write))).map(statusOf)).toEqual(
    Array.from({ length: 20 }, () => 200),
  );
});

function statusOf(result: UpstreamResult<Buffer>): number | undefined {
  return result.kind === "response" ? result.status : undefined;
}

test("of two random replicas the one with fewer requests in flight is chosen", async () => {
  const replicas = await start(3);
  const arrived = Promise.all(replicas.slice(0, 2).map((replica) => holdResponse(replica)));
  const draws = [0, 0, 0.4, 0, 0, 0.9, 0.4, 0.9];
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { random: () => draws.shift() ?? 0 },
  );
  // Draws 0, 0 compare the first and the second; 0.4, 0 the second and the third; 0.4, 0.9 the second and the first.
  const held = [upstream.send(read), upstream.send(read)];
  const responses = await arrived;
  expect(replicas.map(({ requests }) => requests)).toEqual([1, 1, 0]);
  await upstream.send(read);
  expect(replicas.map(({ requests }) => requests)).toEqual([1, 1, 1]);
  for (const response of responses) response.end();
  await Promise.all(held);
});

test("of a slow and two fast replicas the slow one gets the fewest requests", async () => {
  const [slow, ...fast] = await start(3);
  slow.respond = (response) => void setTimeout(() => response.end(), 100);
  const { upstream } = open([slow, ...fast].map(({ url }) => url));
  await sendRequests(600, 16, () => upstream.send(read));
  const [first = 0, second = 0] = fast.map(({ requests }) => requests);
  expect(slow.requests + first + second).toBe(600);
  expect(slow.requests * 3).toBeLessThan(Math.min(first, second));
  expect(Math.max(first, second)).toBeLessThan(Math.min(first, second) * 2);
});

test("no read is lost when a replica is killed under a stream of reads", async () => {
  const [killed, other] = await start(2);
  const { upstream, seen } = open([killed.url, other.url]);
  let sent = 0;
  const results = await sendRequests(1_500, 32, () => {
    if (++sent === 500) void killed.kill();
    return upstream.send(read);
  });
  expect(failuresOf(results)).toEqual([]);
  const ejected = seen.filter((observed) => observed.kind === "replica-ejected");
  expect(ejected.filter(({ replica }) => replica === `${killed.url}/`)).toHaveLength(1);
  expect(killed.requests + other.requests).toBeLessThan(1_500 * 1.2);
});
