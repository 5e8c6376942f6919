import { Readable } from "node:stream";
import { startFrozen } from "@tributary/kit/testing/frozen";
import { describe, expect, test } from "vitest";
import {
  answerOk,
  isNot,
  open,
  outcomeOf,
  read,
  type Replica,
  reset,
  sayUnavailable,
  startMute,
  startTwo,
  stream,
  ways,
  write,
} from "./asking.ts";

const urlsOf = (replicas: readonly Replica[]) => replicas.map(({ url }) => url);
const callsOf = ([one, two]: readonly [Replica, Replica]) => one.calls + two.calls;
const keyed = { ...write, headers: [...write.headers, "Idempotency-Key", "k-1"] };

describe.each(ways)("%s", (way) => {
  test("no read is lost when a replica is killed under a stream of reads", async () => {
    const [doomed, other] = await startTwo();
    const { passage, seen } = open([doomed.url, other.url]);
    let sent = 0;
    const outcomes = await stream(2_000, 32, () => {
      if (++sent === 700) void doomed.kill();
      return outcomeOf(passage[way](read));
    });
    expect(outcomes.filter(isNot("200 ok"))).toEqual([]);
    expect(seen.filter(({ kind }) => kind === "replica-ejected")).toHaveLength(1);
    expect(callsOf([doomed, other])).toBeLessThan(2_000 * 1.2);
  });

  test("five resets in a hundred are seen by one reader in a thousand at the most, and cost a fifth more calls at the most", async () => {
    let draws = 0;
    // Every twentieth: the same share as by chance, and the same each time.
    const replicas = await startTwo((response, request) => (++draws % 20 === 0 ? reset : answerOk)(response, request));
    // No savings to speak of: the share alone has to do.
    const retryBudget = { perRequest: 0.1, perSecond: 0, burstMax: 20 };
    const { passage } = open(urlsOf(replicas), { retryBudget });
    const outcomes = await stream(3_000, 16, () => outcomeOf(passage[way](read)));
    expect(outcomes.filter(isNot("200 ok")).length).toBeLessThanOrEqual(3);
    expect(callsOf(replicas)).toBeGreaterThan(3_000 * 1.03);
    expect(callsOf(replicas)).toBeLessThanOrEqual(3_000 * 1.2);
  });

  test.each([
    ["a POST without a key", { ...write, takesIdempotencyKey: true }],
    ["a POST with an empty key", { ...keyed, headers: ["idempotency-key", " "], takesIdempotencyKey: true }],
    ["a POST with a key that its route does not take", keyed],
    ["a PATCH with a key", { ...keyed, method: "PATCH", takesIdempotencyKey: true }],
    ["a DELETE", { ...write, method: "DELETE" }],
  ])("%s is never sent twice, whatever breaks", async (_, request) => {
    const replicas = await startTwo();
    const { passage, seen } = open(urlsOf(replicas));
    for (const answer of [reset, sayUnavailable]) {
      for (const replica of replicas) replica.answer = answer;
      await stream(40, 4, () => outcomeOf(passage[way](request)));
    }
    expect(callsOf(replicas)).toBe(80);
    expect(seen.map(({ kind }) => kind)).not.toContain("retried");
  });

  test("a POST with a key that its route takes is sent again, body and all", async () => {
    const [bad, good] = await startTwo();
    bad.answer = reset;
    good.answer = (response, request) => void request.pipe(response);
    const { passage } = open([bad.url, good.url], { random: () => 0 });
    expect(await outcomeOf(passage[way]({ ...keyed, takesIdempotencyKey: true }))).toBe("200 {}");
    expect([bad.calls, good.calls]).toEqual([1, 1]);
  });

  test("what nobody took the connection of goes to another replica, whatever it is", async () => {
    const [down, up] = await startTwo();
    await down.kill();
    const { passage } = open([down.url, up.url], { random: () => 0 });
    for (const method of ["POST", "PATCH", "DELETE"])
      expect(await outcomeOf(passage[way]({ ...write, method }))).toBe("200 ok");
    expect(up.calls).toBe(3);
  });

  test("a replica that takes its leave is left before it is gone", async () => {
    const [leaving, staying] = await startTwo();
    const { passage, seen } = open([leaving.url, staying.url], { random: () => 0, nowMs: () => 0 });
    await outcomeOf(passage[way](write));
    leaving.answer = (response) => void response.setHeader("Connection", "close").end("ok");
    const outcomes = await stream(20, 1, () => outcomeOf(passage[way](write)));
    expect(outcomes.filter(isNot("200 ok"))).toEqual([]);
    expect([leaving.calls, staying.calls]).toEqual([3, 18]);
    expect(seen.map(({ kind }) => kind)).toEqual(["replica-leaving"]);
  });

  test.runIf(process.platform === "linux")("one whose address swallows everything is not waited for", async () => {
    const [gone, staying] = await startTwo();
    const { passage, seen } = open([gone.url, staying.url], { random: () => 0, connectTimeoutMs: 600_000 });
    await gone.kill();
    await startFrozen(gone.port);
    for (const asked of [read, write]) expect(await outcomeOf(passage[way](asked))).toBe("200 ok");
    expect(seen.map(({ kind }) => kind)).toEqual(["replica-ejected", "retried"]);
  });

  test("a connection that does not come to stand is given up, and even a write goes elsewhere", async () => {
    const [up] = await startTwo();
    const { passage, seen } = open([`https://127.0.0.1:${await startMute()}`, up.url], {
      connectTimeoutMs: 50,
      random: () => 0,
    });
    expect(await outcomeOf(passage[way](write))).toBe("200 ok");
    expect(seen).toMatchObject([{ kind: "retried", reason: "refused", service: "things" }]);
  });

  test("a read that a replica cannot answer is answered by another; when all cannot, their word is passed on", async () => {
    const replicas = await startTwo();
    const [busy, free] = replicas;
    busy.answer = sayUnavailable;
    const { passage } = open(urlsOf(replicas), { random: () => 0 });
    expect(await outcomeOf(passage[way](read))).toBe("200 ok");
    expect([busy.calls, free.calls]).toEqual([1, 1]);
    free.answer = sayUnavailable;
    expect(await outcomeOf(passage[way](read))).toBe("503 busy");
  });

  test("what a replica says beside that it cannot is not waited for, when another is asked", async () => {
    const [bad, good] = await startTwo();
    const left = new Promise((resolve) => {
      bad.answer = (response) => {
        response.once("close", resolve);
        response.writeHead(503).write("without end");
      };
    });
    const { passage } = open([bad.url, good.url], { random: () => 0 });
    expect(await outcomeOf(passage[way](read))).toBe("200 ok");
    await left;
  });

  test("a body that can be read only once comes through whole, and makes its request one that is sent once", async () => {
    const [down, up] = await startTwo((response, request) => void request.pipe(response));
    const { passage } = open([up.url]);
    const streamed = (text: string) => ({
      ...write,
      method: "PUT",
      headers: [],
      body: Readable.from([Buffer.from(text)]),
    });
    expect(await outcomeOf(passage[way](streamed("some text")))).toBe("200 some text");
    // One that has just answered is not looked at before it is sent anything.
    const { passage: other } = open([down.url, up.url], { random: () => 0, nowMs: () => 0 });
    expect(await outcomeOf(other[way](streamed("some text")))).toBe("200 some text");
    await down.kill();
    expect(await outcomeOf(other[way](streamed("some text")))).toBe("BAD_GATEWAY");
    expect([down.calls, up.calls]).toEqual([1, 1]);
    const { passage: third } = open([down.url, up.url], { random: () => 0 });
    expect(await outcomeOf(third[way](streamed("some text")))).toBe("200 some text");
    expect([down.calls, up.calls]).toEqual([1, 2]);
  });

  test("a service that says when to come again is believed: no other replica is asked, and none is left out", async () => {
    const replicas = await startTwo((response) => void response.writeHead(503, { "Retry-After": "2" }).end("later"));
    const { passage, seen } = open(urlsOf(replicas));
    const outcomes = await stream(40, 4, () => outcomeOf(passage[way](read)));
    expect(outcomes.filter(isNot("503 later"))).toEqual([]);
    expect([callsOf(replicas), seen]).toEqual([40, []]);
  });

  test("when the budget is spent, failures are final", async () => {
    const replicas = await startTwo(reset);
    const { passage } = open(urlsOf(replicas), { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 3 } });
    const outcomes = await stream(20, 1, () => outcomeOf(passage[way](read)));
    expect(outcomes.filter(isNot("BAD_GATEWAY"))).toEqual([]);
    expect(callsOf(replicas)).toBe(23);
  });

  test("a request that cannot be put on the wire is thrown back, and no replica blamed", async () => {
    const [replica] = await startTwo();
    const { passage, seen } = open([replica.url]);
    const asked = passage[way]({ ...read, headers: ["a", "b\r\nc: d"] });
    await expect(asked).rejects.not.toHaveProperty("code", "BAD_GATEWAY");
    expect([replica.calls, seen]).toEqual([0, []]);
  });
});

test("both ways know of one another's failures: a replica that one left out is not asked by the other", async () => {
  const [bad, good] = await startTwo();
  bad.answer = sayUnavailable;
  const { passage } = open([bad.url, good.url], { random: () => 0, nowMs: () => 0 });
  await stream(5, 1, () => outcomeOf(passage.aside(read)));
  expect(bad.calls).toBe(5);
  await stream(5, 1, () => outcomeOf(passage.passThrough(read)));
  expect([bad.calls, good.calls]).toEqual([5, 10]);
});
