import { expect, test } from "vitest";
import { createRetryBudget } from "../../src/upstream/retry-budget.ts";
import { hang, reset, respondOk, respondUnavailable, start } from "./replica.ts";
import { createDraws, failuresOf, open, read, sendRequests, textOf, write } from "./requests.ts";

test("a write is never sent twice after it may have arrived", async () => {
  const replicas = await start(2);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  for (const respond of [reset, respondUnavailable]) {
    for (const replica of replicas) replica.respond = respond;
    await sendRequests(100, 8, () => upstream.send(write));
  }
  expect(replicas[0].requests + replicas[1].requests).toBe(200);
  expect(seen.map(({ kind }) => kind)).not.toContain("retried");
});

test("a write whose connection was refused goes to another replica", async () => {
  const [down, up] = await start(2);
  await down.kill();
  const { upstream } = open([down.url, up.url]);
  const results = await sendRequests(50, 4, () => upstream.send(write));
  expect(failuresOf(results)).toEqual([]);
  expect(up.requests).toBe(50);
});

test("five resets in a hundred requests fail at most one request in 500, for at most a fifth more requests", async () => {
  const draw = createDraws(7);
  const replicas = await start(2, (response, request) => (draw() < 0.05 ? reset : respondOk)(response, request));
  // A small burst: the share per request has to suffice.
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0.1, perSecond: 0, burstMax: 20 }, random: draw },
  );
  const results = await sendRequests(2_500, 16, () => upstream.send(read));
  const requests = replicas[0].requests + replicas[1].requests;
  expect(failuresOf(results).length).toBeLessThanOrEqual(5);
  expect(requests).toBeGreaterThan(2_500 * 1.03);
  expect(requests).toBeLessThanOrEqual(2_500 * 1.2);
});

test("when the retry budget is used up, failures are final, and each one that needed a retry is reported", async () => {
  const replicas = await start(2, reset);
  const { upstream, seen } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 3 } },
  );
  const countRequests = () => replicas[0].requests + replicas[1].requests;
  expect(failuresOf([await upstream.send(read)])).toEqual(["reset"]);
  expect(countRequests()).toBe(3);
  const results = await sendRequests(4, 1, () => upstream.send(read));
  expect(failuresOf(results)).toEqual(Array.from({ length: 4 }, () => "reset"));
  expect(countRequests()).toBe(8);
  const kinds = seen.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "retried")).toHaveLength(3);
  // The first read had two retries, which is the maximum; the second read had one, and needed another.
  expect(kinds.filter((kind) => kind === "retry-over-budget")).toHaveLength(4);
});

test("a caller that sends further requests takes a retry for each from the same budget", async () => {
  const [replica] = await start(1);
  const { upstream, seen } = open([replica.url], { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 1 } });
  expect([upstream.takeRetry("a"), upstream.takeRetry("a")]).toEqual([true, false]);
  expect(seen.map(({ kind }) => kind)).toEqual(["retried", "retry-over-budget"]);
});

test("with one replica, a read is sent again after a broken connection, but not after a refused one or a 503", async () => {
  const [replica] = await start(1);
  const { upstream, seen } = open([replica.url]);
  replica.respond = (response, request) => {
    replica.respond = respondOk;
    reset(response, request);
  };
  expect(await upstream.send(read)).toMatchObject({ kind: "response", status: 200 });
  expect(seen).toEqual([{ kind: "retried", replica: `${replica.url}/`, reason: "reset", status: undefined }]);
  replica.respond = respondUnavailable;
  expect(await upstream.send(read)).toMatchObject({ kind: "response", status: 503 });
  expect(replica.requests).toBe(3);
  await replica.kill();
  // The open connection breaks first; after that new ones are refused.
  await upstream.send(read);
  seen.length = 0;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
  expect(seen).toEqual([]);
});

test("a 503 is returned when the attempt after it gets no response in time", async () => {
  const [busy, silent] = await start(2);
  busy.respond = respondUnavailable;
  silent.respond = hang;
  const { upstream } = open([busy.url, silent.url], { random: () => 0 });
  const result = await upstream.send({ ...read, timeoutMs: 1_000 });
  expect(result).toMatchObject({ kind: "response", status: 503 });
  expect([textOf(result), silent.requests]).toEqual(["busy", 1]);
});

test("a 503 with Retry-After is returned, not sent to another replica, and does not count as a failure", async () => {
  const replicas = await start(2, (response) => void response.writeHead(503, { "Retry-After": "2" }).end("later"));
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  const results = await sendRequests(40, 4, () => upstream.send(read));
  expect(new Set(results.map(textOf))).toEqual(new Set(["later"]));
  expect([replicas[0].requests + replicas[1].requests, seen]).toEqual([40, []]);
});

function openBudget(limits: { perRequest: number; perSecond: number; burstMax: number }) {
  const clock = { nowMs: 0 };
  const budget = createRetryBudget(limits, () => clock.nowMs);
  const takeAll = () => {
    let taken = 0;
    while (taken < 1_000 && budget.takeRetry()) taken++;
    return taken;
  };
  return { clock, budget, takeAll };
}

test("a tenth of the requests may be retried once the burst is used up", () => {
  const { budget, takeAll } = openBudget({ perRequest: 0.1, perSecond: 0, burstMax: 20 });
  expect(takeAll()).toBe(20);
  for (let i = 0; i < 105; i++) budget.deposit();
  expect(takeAll()).toBe(10);
});

test("each second adds retries", () => {
  const { clock, takeAll } = openBudget({ perRequest: 0, perSecond: 3, burstMax: 20 });
  takeAll();
  clock.nowMs += 2_000;
  expect(takeAll()).toBe(6);
});

test("no more retries are saved than the burst", () => {
  const { clock, budget, takeAll } = openBudget({ perRequest: 1, perSecond: 100, burstMax: 5 });
  clock.nowMs += 60_000;
  for (let i = 0; i < 100; i++) budget.deposit();
  expect(takeAll()).toBe(5);
});
