import { setTimeout } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { UpstreamResult } from "../../src/upstream.ts";
import { failuresOf, open, read, stream, write } from "./calls.ts";
import { answerOk, answerUnavailable, type Replica, restart, sayFarewell, start } from "./replica.ts";

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
  await untilBack({ upstream, seen });
  expect(await callsOf(bad, ten)).toBe(10);
  expect(seen.filter(({ kind }) => kind !== "retried")).toEqual([
    { kind: "replica-ejected", replica: `${bad.url}/`, pauseMs: 1_000, cause: expect.any(Error) },
    { kind: "replica-back", replica: `${bad.url}/` },
  ]);
});

test("a replica that takes its leave gets no further write, and one more read at the most", async () => {
  const [leaving, staying] = await start(2);
  const clock = { nowMs: 0 };
  const { upstream, seen } = open([leaving.url, staying.url], { nowMs: () => clock.nowMs, random: () => 0 });
  leaving.answer = sayFarewell;
  await stream(20, 1, () => upstream.send(write));
  expect([leaving.calls, staying.calls, seen]).toEqual([1, 19, []]);
  await stream(20, 1, () => upstream.send(read));
  expect([leaving.calls, staying.calls]).toEqual([2, 38]);
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-leaving"]);
  await leaving.kill();
  await restart(leaving);
  clock.nowMs = 1_000;
  await untilBack({ upstream, seen });
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-leaving", "replica-back"]);
});

test("no request is sent where nobody listens any more, and it is looked there again each second", async () => {
  const [gone, staying] = await start(2);
  const clock = { nowMs: 0 };
  const { upstream, seen } = open([gone.url, staying.url], { nowMs: () => clock.nowMs, random: () => 0 });
  await gone.kill();
  await stream(5, 1, () => upstream.send(read));
  expect(seen.map(({ kind }) => kind)).toContain("replica-ejected");
  const kinds = seen.length;
  for (clock.nowMs = 1_000; clock.nowMs < 10_000; clock.nowMs += 1_000) {
    await stream(5, 1, () => upstream.send(read));
    // For the knock to be heard.
    await setTimeout(20);
  }
  expect(seen.slice(kinds)).toEqual([]);
  await restart(gone);
  await untilBack({ upstream, seen });
});

test("a replica that ends a connection now and then is asked again at once, and nothing is told of it", async () => {
  const replicas = await start(2);
  for (const replica of replicas)
    replica.answer = (response, request) => (replica.calls % 10 === 0 ? sayFarewell : answerOk)(response, request);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  await stream(1_000, 4, () => upstream.send(read));
  expect(seen).toEqual([]);
  expect(Math.min(...replicas.map(({ calls }) => calls))).toBeGreaterThan(300);
});

test("a replica that took its leave and is gone gets no request, and neither does one that refused once", async () => {
  for (const answer of [sayFarewell, undefined]) {
    const [gone, staying] = await start(2);
    if (answer) gone.answer = answer;
    const clock = { nowMs: 0 };
    const { upstream, seen } = open([gone.url, staying.url], { nowMs: () => clock.nowMs, random: () => 0 });
    if (!answer) await gone.kill();
    await upstream.send(read);
    if (answer) await gone.kill();
    for (const _ of [1, 2, 3]) {
      await upstream.send(read);
      // For the look to end.
      await setTimeout(20);
    }
    expect(seen.map(({ kind }) => kind)).toEqual(answer ? ["replica-leaving"] : ["retried", "replica-ejected"]);
    expect(seen.at(-1)).toMatchObject({ pauseMs: 1_000 });
  }
});

test("where all replicas take their leave, one of them is asked all the same", async () => {
  const replicas = await start(2, sayFarewell);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  const results = await stream(100, 1, () => upstream.send(write));
  expect(results.every((result) => result.kind === "answered" && result.status === 200)).toBe(true);
  expect(seen.length).toBeLessThanOrEqual(1);
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

test("a replica that is frozen is left out", async () => {
  const [frozen, alive] = await start(2);
  frozen.answer = () => {};
  const { upstream, seen } = open([frozen.url, alive.url], { random: () => 0 });
  await stream(5, 1, () => upstream.send({ ...read, timeoutMs: 20 }));
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-ejected"]);
  expect(await upstream.send(read)).toMatchObject({ kind: "answered" });
});

// Measured with replicas that queue, one of them half as large, at 1.2 to 3 times of what both bear: 24 to 70 requests in a second were answered
// in time, since the smaller one's queue runs dry while it is left out; 0 to 86 where time that runs out is no reason to leave one out.
test("none is left out when all are overloaded", async () => {
  const replicas = await start(3, answerUnavailable);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  await stream(200, 8, () => upstream.send(write));
  expect(seen).toEqual([]);
  for (const replica of replicas) replica.answer = answerOk;
  expect((await stream(20, 1, () => upstream.send(write))).map(statusOf)).toEqual(
    Array.from({ length: 20 }, () => 200),
  );
});

/** Asks until a replica is taken back: the first request only makes somebody look whether it is there. */
function untilBack({ upstream, seen }: ReturnType<typeof open>): Promise<boolean> {
  return vi.waitUntil(async () => {
    await upstream.send(read);
    return seen.some(({ kind }) => kind === "replica-back");
  });
}

function statusOf(result: UpstreamResult): number | undefined {
  return result.kind === "answered" ? result.status : undefined;
}
