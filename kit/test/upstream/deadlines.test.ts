import { once } from "node:events";
import { expect, test } from "vitest";
import { failuresOf, open, read, stream, textOf, write } from "./requests.ts";
import { hang, holdResponse, reset, respondOk, start } from "./replica.ts";

test("a request without a response ends at its deadline, at the replica too", async () => {
  const [replica] = await start(1);
  const arrived = holdResponse(replica);
  const { upstream } = open([replica.url]);
  const sent = upstream.send({ ...read, timeoutMs: 50 });
  const closed = once(await arrived, "close");
  expect(await sent).toMatchObject({ kind: "failed", reason: "timeout" });
  await closed;
  expect(replica.requests).toBe(1);
});

test("a request whose response body does not end in time ends at its deadline", async () => {
  const [replica] = await start(1);
  replica.respond = (response) => void response.write("a");
  const { upstream } = open([replica.url]);
  expect(await upstream.send({ ...read, timeoutMs: 50 })).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("an aborted request ends at once, at the replica too", async () => {
  const [replica] = await start(1);
  const arrived = holdResponse(replica);
  const { upstream, seen } = open([replica.url]);
  const caller = new AbortController();
  const sent = upstream.send({ ...read, signal: caller.signal });
  const closed = once(await arrived, "close");
  caller.abort("disconnected");
  expect(await sent).toMatchObject({ kind: "failed", reason: "aborted", cause: "disconnected" });
  await closed;
  expect(seen).toEqual([]);
});

test("a request that is aborted before it starts is not sent", async () => {
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  const result = await upstream.send({ ...read, signal: AbortSignal.abort("disconnected") });
  expect(result).toEqual({ kind: "failed", reason: "aborted", cause: "disconnected" });
  expect(replica.requests).toBe(0);
});

test("a request that is aborted while it connects is not sent", async () => {
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  const caller = new AbortController();
  const sent = upstream.send({ ...write, signal: caller.signal });
  caller.abort("disconnected");
  expect(await sent).toMatchObject({ reason: "aborted" });
  await upstream.send(read);
  expect(replica.requests).toBe(1);
});

test("a request whose lookup hangs ends at its deadline", async () => {
  const { upstream } = open(["http://service.test"], { resolveHost: () => new Promise(() => {}) });
  expect(await upstream.send({ ...read, timeoutMs: 20 })).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("requests above the limit fail at once, until one in flight ends", async () => {
  const [replica] = await start(1);
  const arrived = holdResponse(replica);
  const { upstream } = open([replica.url], { requestsMax: 1 });
  const held = upstream.send(read);
  const response = await arrived;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "overloaded" });
  replica.respond = respondOk;
  response.end();
  await held;
  expect(await upstream.send(read)).toMatchObject({ kind: "response" });
  expect(replica.requests).toBe(2);
});

test("a read that a replica does not respond to is sent to a healthy one after 500 ms", async () => {
  const [silent, other] = await start(2);
  silent.respond = hang;
  const { upstream, seen } = open([silent.url, other.url], { random: () => 0 });
  const startedMs = performance.now();
  expect(textOf(await upstream.send(read))).toBe("ok");
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(495);
  expect([silent.requests, other.requests]).toEqual([1, 1]);
  expect(seen).toEqual([{ kind: "retried", replica: `${silent.url}/`, reason: "timeout", status: undefined }]);
});

test("an attempt has four times the 99th percentile of recent latencies", async () => {
  const [slow, other] = await start(2, (response) => void setTimeout(() => response.end("ok"), 700));
  const { upstream, seen } = open([slow.url, other.url], { random: () => 0 });
  // The first read is sent again after 500 ms; its second attempt has the request's whole deadline.
  await upstream.send(read);
  expect([slow.requests, other.requests]).toEqual([1, 1]);
  other.respond = respondOk;
  seen.length = 0;
  await upstream.send(read);
  expect([slow.requests, other.requests, seen]).toEqual([2, 1, []]);
});

test("an attempt has at most half of the remaining time", async () => {
  const [silent, other] = await start(2);
  silent.respond = hang;
  const { upstream } = open([silent.url, other.url], { random: () => 0 });
  expect(textOf(await upstream.send({ ...read, timeoutMs: 400 }))).toBe("ok");
});

test("an attempt has the whole deadline of the request while no other replica is healthy", async () => {
  const [silent, failing] = await start(2);
  failing.respond = reset;
  const { upstream } = open([failing.url, silent.url], { random: () => 0 });
  // The failing replica becomes suspect, and each read goes on to the other one.
  silent.respond = (response) => void setTimeout(() => response.end("late"), 700);
  expect(textOf(await upstream.send(read))).toBe("late");
  expect([failing.requests, silent.requests]).toEqual([1, 1]);
});

test("a write that may have been sent has the whole deadline of the request", async () => {
  const [slow, other] = await start(2, (response) => void setTimeout(() => response.end("late"), 700));
  const { upstream, seen } = open([slow.url, other.url], { random: () => 0 });
  expect(textOf(await upstream.send(write))).toBe("late");
  expect([slow.requests, other.requests, seen]).toEqual([1, 0, []]);
});

test("without a retry in the budget an attempt goes on until the request's deadline", async () => {
  const [slow, other] = await start(2, (response) => void setTimeout(() => response.end("late"), 700));
  const retryBudget = { perRequest: 0, perSecond: 0, burstMax: 0 };
  const { upstream, seen } = open([slow.url, other.url], { random: () => 0, retryBudget });
  expect(textOf(await upstream.send(read))).toBe("late");
  expect(seen).toEqual([{ kind: "retry-over-budget", replica: `${slow.url}/` }]);
});

test("two reads without a response for 500 ms eject a replica", async () => {
  const [silent, other] = await start(2);
  silent.respond = hang;
  const { upstream, seen } = open([silent.url, other.url], { random: () => 0 });
  expect(failuresOf(await stream(4, 1, () => upstream.send(read)))).toEqual([]);
  expect(seen.map(({ kind }) => kind)).toEqual(["retried", "replica-ejected", "retried"]);
  expect([silent.requests, other.requests]).toEqual([2, 4]);
});

test("a read whose response has started has the whole deadline of the request", async () => {
  const [slow, other] = await start(2, (response) => {
    response.write("la");
    setTimeout(() => response.end("te"), 700);
  });
  const { upstream, seen } = open([slow.url, other.url], { random: () => 0 });
  expect(textOf(await upstream.send(read))).toBe("late");
  expect([slow.requests, other.requests, seen]).toEqual([1, 0, []]);
});
