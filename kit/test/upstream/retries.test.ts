import { expect, test } from "vitest";
import { createDraws, failuresOf, open, read, stream, textOf, write } from "./requests.ts";
import { hang, reset, respondOk, respondUnavailable, start } from "./replica.ts";

test("a write is never sent twice after it may have arrived", async () => {
  const replicas = await start(2);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  for (const respond of [reset, respondUnavailable]) {
    for (const replica of replicas) replica.respond = respond;
    await stream(100, 8, () => upstream.send(write));
  }
  expect(replicas[0].requests + replicas[1].requests).toBe(200);
  expect(seen.map(({ kind }) => kind)).not.toContain("retried");
});

test("a write whose connection was refused goes to another replica", async () => {
  const [down, up] = await start(2);
  await down.kill();
  const { upstream } = open([down.url, up.url]);
  const results = await stream(50, 4, () => upstream.send(write));
  expect(failuresOf(results)).toEqual([]);
  expect(up.requests).toBe(50);
});

test("five resets in a hundred requests fail at most one request in a thousand, for at most a fifth more requests", async () => {
  const draw = createDraws(7);
  const replicas = await start(2, (response, request) => (draw() < 0.05 ? reset : respondOk)(response, request));
  // A small burst: the share per request has to suffice.
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0.1, perSecond: 0, burstMax: 20 }, random: draw },
  );
  const results = await stream(5_000, 16, () => upstream.send(read));
  const requests = replicas[0].requests + replicas[1].requests;
  expect(failuresOf(results).length).toBeLessThanOrEqual(5);
  expect(requests).toBeGreaterThan(5_000 * 1.03);
  expect(requests).toBeLessThanOrEqual(5_000 * 1.2);
});

test("a retry without budget is reported as often as a request fails for it", async () => {
  const replicas = await start(2, reset);
  const { upstream, seen } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 3 } },
  );
  for (let i = 0; i < 5; i++) await upstream.send(read);
  const kinds = seen.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "retried")).toHaveLength(3);
  // The first read had two retries, which is the maximum; the second read had one, and needed another.
  expect(kinds.filter((kind) => kind === "retry-over-budget")).toHaveLength(4);
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

test("a read that got a 503 is sent to another replica", async () => {
  const [busy, free] = await start(2);
  busy.respond = respondUnavailable;
  const { upstream } = open([busy.url, free.url], { random: () => 0 });
  expect(await upstream.send(read)).toMatchObject({ status: 200 });
  expect([busy.requests, free.requests]).toEqual([1, 1]);
});

test("a 503 is returned when the attempt after it gets no response in time", async () => {
  const [busy, silent] = await start(2);
  busy.respond = respondUnavailable;
  silent.respond = hang;
  const { upstream } = open([busy.url, silent.url], { random: () => 0 });
  const result = await upstream.send({ ...read, timeoutMs: 200 });
  expect(result).toMatchObject({ kind: "response", status: 503 });
  expect([textOf(result), silent.requests]).toEqual(["busy", 1]);
});

test("when the budget is used up, failures are final", async () => {
  const replicas = await start(2, reset);
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 3 } },
  );
  const results = await stream(20, 1, () => upstream.send(read));
  expect(failuresOf(results)).toEqual(Array.from({ length: 20 }, () => "reset"));
  expect(replicas[0].requests + replicas[1].requests).toBe(23);
});

test("a 503 with Retry-After is returned, not sent to another replica, and does not count as a failure", async () => {
  const replicas = await start(2, (response) => void response.writeHead(503, { "Retry-After": "2" }).end("later"));
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  const results = await stream(40, 4, () => upstream.send(read));
  expect(new Set(results.map(textOf))).toEqual(new Set(["later"]));
  expect([replicas[0].requests + replicas[1].requests, seen]).toEqual([40, []]);
});
