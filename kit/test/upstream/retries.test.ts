import { expect, test } from "vitest";
import { createDraws, failuresOf, open, read, stream, textOf, write } from "./calls.ts";
import { answerOk, answerUnavailable, reset, start } from "./replica.ts";

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

test("a retry that is not paid for is told of as often as a caller sees a failure for it", async () => {
  const replicas = await start(2, reset);
  const { upstream, seen } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 3 } },
  );
  for (let i = 0; i < 5; i++) await upstream.send(read);
  const kinds = seen.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "retried")).toHaveLength(3);
  // The first had two, and there are no more than two; the second had one and wanted another.
  expect(kinds.filter((kind) => kind === "retry-refused")).toHaveLength(4);
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

test("a response of 503 is returned when the attempt after it gets no response in time", async () => {
  const [busy, silent] = await start(2);
  busy.answer = answerUnavailable;
  silent.answer = () => {};
  const { upstream } = open([busy.url, silent.url], { random: () => 0 });
  const result = await upstream.send({ ...read, timeoutMs: 200 });
  expect(result).toMatchObject({ kind: "answered", status: 503 });
  expect([textOf(result), silent.calls]).toEqual(["busy", 1]);
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
