import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { AbortSource } from "../../src/http/abort-source.ts";
import { createLatencyWindow } from "../../src/upstream/latency-window.ts";
import type { RetryBudgetLimits } from "../../src/upstream/retry-budget.ts";
import type { Transport } from "../../src/upstream/transport.ts";
import { createUpstream } from "../../src/upstream/upstream.ts";
import { hang, holdResponse, type Respond, reset, respondOk, start } from "./replica.ts";
import { failuresOf, open, read, sendRequests, textOf, write } from "./requests.ts";

/** Responds after the 500 ms that an attempt has at least. */
const respondLate: Respond = (response) => void setTimeout(() => response.end("late"), 600);

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

test("a request is not sent if its caller has no time left for a response", async () => {
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  const signal = new AbortSource(performance.now() + 4);
  expect(await upstream.send({ ...read, signal })).toMatchObject({ kind: "failed", reason: "timeout" });
  expect(replica.requests).toBe(0);
});

test("a write that is too late to be repeated names the replica that it was sent to: it may have been processed", async () => {
  const replicas = await start(2);
  let nowMs = 0;
  const upstream = createUpstream<undefined>({
    urls: replicas.map(({ url }) => url),
    nowMs: () => nowMs,
    open: () => undefined,
    close: () => Promise.resolve(),
    probeTransport: () => Promise.reject(new Error("No probe is sent")),
  });
  const respondUnavailableLate: Transport<undefined, Readable> = () => {
    nowMs += 9_997;
    return Promise.resolve({ kind: "response", status: 503, headers: {}, rawHeaders: [], body: Readable.from(["x"]) });
  };
  const result = await upstream.send({ ...write, isIdempotent: true }, respondUnavailableLate);
  expect(result).toMatchObject({ kind: "failed", reason: "timeout", replica: expect.stringContaining("http://") });
  await upstream.close();
});

test("a replica gets the time of the caller, if that is shorter than the request's", async () => {
  const [replica] = await start(1);
  const sent: unknown[] = [];
  replica.respond = (response, request) => {
    sent.push(Number(request.headers["x-deadline-ms"]));
    response.end();
  };
  const { upstream } = open([replica.url]);
  await upstream.send({ ...read, signal: new AbortSource(performance.now() + 2_000) });
  await upstream.send({ ...read, timeoutMs: 1_000, signal: new AbortSource(performance.now() + 2_000) });
  expect(sent).toEqual([expect.closeTo(1_890, -2), expect.closeTo(940, -2)]);
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

test("a read without a response is sent to a healthy replica after 500 ms, and two such reads eject the silent replica", async () => {
  const [silent, other] = await start(2);
  silent.respond = hang;
  const { upstream, seen } = open([silent.url, other.url], { random: () => 0 });
  const startedMs = performance.now();
  expect(textOf(await upstream.send(read))).toBe("ok");
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(495);
  expect(seen).toEqual([{ kind: "retried", replica: `${silent.url}/`, reason: "timeout", status: undefined }]);
  expect(failuresOf(await sendRequests(3, 1, () => upstream.send(read)))).toEqual([]);
  expect(seen.map(({ kind }) => kind)).toEqual(["retried", "replica-ejected", "retried"]);
  expect([silent.requests, other.requests]).toEqual([2, 4]);
});

test("an attempt has four times the 99th percentile of recent latencies", async () => {
  const [slow, other] = await start(2, respondLate);
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

test("an attempt has the whole deadline of the request if no other replica is healthy, or another attempt is not allowed or needed", async () => {
  const setUp = async (retryBudget?: RetryBudgetLimits) => {
    const [slow, other] = await start(2, respondLate);
    return { slow, other, ...open([slow.url, other.url], { random: () => 0, retryBudget }) };
  };
  const cases = {
    async withoutHealthyAlternative() {
      const { slow, other, upstream } = await setUp();
      slow.respond = reset;
      // The broken connection makes the first replica suspect, and the read is sent to the other one.
      expect(textOf(await upstream.send(read))).toBe("late");
      expect([slow.requests, other.requests]).toEqual([1, 1]);
    },
    async writeThatMayHaveBeenSent() {
      const { slow, other, upstream, seen } = await setUp();
      expect(textOf(await upstream.send(write))).toBe("late");
      expect([slow.requests, other.requests, seen]).toEqual([1, 0, []]);
    },
    async readWithoutRetryBudget() {
      const { slow, upstream, seen } = await setUp({ perRequest: 0, perSecond: 0, burstMax: 0 });
      expect(textOf(await upstream.send(read))).toBe("late");
      expect(seen).toEqual([{ kind: "retry-over-budget", replica: `${slow.url}/` }]);
    },
    async readWhoseResponseHasStarted() {
      const { slow, other, upstream, seen } = await setUp();
      slow.respond = (response, request) => {
        response.write("be");
        respondLate(response, request);
      };
      expect(textOf(await upstream.send(read))).toBe("belate");
      expect([slow.requests, other.requests, seen]).toEqual([1, 0, []]);
    },
  };
  // Together, since each takes the time of the late response.
  await Promise.all(Object.values(cases).map((run) => run()));
});

test("without an attempt the percentile is 0", () => {
  expect(createLatencyWindow().p99Ms(0)).toBe(0);
});

test("of the latencies 1 to 100 ms the 99th percentile is 99 ms", () => {
  const latencies = createLatencyWindow();
  for (let ms = 100; ms >= 1; ms--) latencies.record(ms);
  expect(latencies.p99Ms(0)).toBe(99);
});

test("only the last 256 latencies count", () => {
  const latencies = createLatencyWindow();
  for (let i = 0; i < 100; i++) latencies.record(9_000);
  for (let i = 0; i < 256; i++) latencies.record(7);
  expect(latencies.p99Ms(0)).toBe(7);
});

test("the percentile is computed at most once a second", () => {
  const latencies = createLatencyWindow();
  latencies.record(5);
  expect(latencies.p99Ms(0)).toBe(5);
  latencies.record(800);
  expect(latencies.p99Ms(999)).toBe(5);
  expect(latencies.p99Ms(1_000)).toBe(800);
});
