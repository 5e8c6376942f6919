import { setTimeout as sleep } from "node:timers/promises";
import { startUnreachable } from "@tributary/kit/testing/unreachable-port";
import { idleMsMax } from "@tributary/kit/upstream/undici-transport";
import { expect, onTestFinished, test } from "vitest";
import {
  hang,
  holdResponse,
  type ReplicaServer,
  type Respond,
  reset,
  respondAndClose,
  respondOk,
  respondUnavailable,
  startReplacement,
  start,
  startReplica,
} from "../../../kit/test/upstream/replica.ts";
import { open, outcomeOf, read, startMute, sendRequests, testBothTransports, write } from "./service-client.ts";

// Which replica gets a request, and when it is sent again. kit/test/upstream tests the same choices over undici, so most tests here send writes.

const urlsOf = (replicas: readonly ReplicaServer[]) => replicas.map(({ url }) => url);
const keyed = { ...write, headers: [...write.headers, "Idempotency-Key", "k-1"] };
const retryable = { ...keyed, takesIdempotencyKey: true };

test.each([
  ["a POST without a key", { ...write, takesIdempotencyKey: true }],
  ["a POST with an empty key", { ...write, headers: ["idempotency-key", " "], takesIdempotencyKey: true }],
  ["a POST with a key that its route does not accept", keyed],
  ["a PATCH with a key", { ...retryable, method: "PATCH" }],
  ["a DELETE", { ...write, method: "DELETE" }],
])("%s is never sent twice after it may have arrived", async (_, request) => {
  const replicas = await start(2);
  const { client, seen } = open(urlsOf(replicas));
  for (const respond of [reset, respondUnavailable]) {
    for (const replica of replicas) replica.respond = respond;
    await sendRequests(10, 2, () => outcomeOf(client.sendByMiddleware(request)));
  }
  expect(replicas[0].requests + replicas[1].requests).toBe(20);
  expect(seen.map(({ kind }) => kind)).not.toContain("retried");
});

test("a write that may have arrived has the whole deadline for its response", async () => {
  const [slow, other] = await start(2, (response) => void setTimeout(() => response.end("late"), 600));
  const { client, seen } = open([slow.url, other.url], { random: () => 0 });
  expect(await outcomeOf(client.sendByMiddleware(write))).toBe("200 late");
  expect([slow.requests, other.requests, seen]).toEqual([1, 0, []]);
});

test.each([
  ["a broken connection", reset, "reset"],
  ["a 503", respondUnavailable, "status"],
  ["500 ms without a response", hang, "timeout"],
])("after %s, a POST with a key that its route accepts is sent again with its body", async (_, respond, reason) => {
  const [bad, good] = await start(2);
  bad.respond = respond;
  good.respond = (response, request) => void request.pipe(response);
  const { client, seen } = open([bad.url, good.url], { random: () => 0 });
  expect(await outcomeOf(client.sendByMiddleware(retryable))).toBe("200 {}");
  expect([bad.requests, good.requests]).toEqual([1, 1]);
  expect(seen).toMatchObject([{ kind: "retried", reason, service: "things" }]);
});

const respondInFlight: Respond = (response) => void response.writeHead(409, { "Retry-After": "1" }).end("in flight");

test.each([
  ["a late response", hang],
  ["a broken connection", reset],
])("a POST with a key that is repeated after %s waits while the service processes the first", async (_, respond) => {
  const [first, other] = await start(2, respondInFlight);
  first.respond = (response, request) => {
    first.respond = respondInFlight;
    setTimeout(() => (first.respond = other.respond = respondOk), 2_000);
    respond(response, request);
  };
  const { client } = open([first.url, other.url], { random: () => 0 });
  expect(await outcomeOf(client.sendByMiddleware(retryable))).toBe("200 ok");
  expect(first.requests + other.requests).toBeGreaterThan(3);
});

test("a 409 is the response to a POST with a key that was not repeated, or whose deadline comes first", async () => {
  const [first, other] = await start(2, respondInFlight);
  const { client } = open([first.url, other.url], { random: () => 0, timeoutMs: 900 });
  expect(await outcomeOf(client.sendByMiddleware(retryable))).toBe("409 in flight");
  expect(first.requests + other.requests).toBe(1);
  first.respond = reset;
  expect(await outcomeOf(client.sendByMiddleware(retryable))).toBe("409 in flight");
  expect(first.requests + other.requests).toBe(3);
});

test("a write whose connection to another replica was refused was sent once, so its client gets a 409", async () => {
  for (const request of [write, retryable]) {
    const [down, up] = await start(2, respondInFlight);
    await down.kill();
    const { client } = open([down.url, up.url], { random: () => 0 });
    expect(await outcomeOf(client.sendByMiddleware(request))).toBe("409 in flight");
    expect(up.requests).toBe(1);
  }
});

test("a repeated write waits at least a second, whatever Retry-After says", async () => {
  const [first, other] = await start(2, (response) => void response.writeHead(409, { "Retry-After": "0" }).end());
  const respond = first.respond;
  first.respond = (response, request) => {
    first.respond = respond;
    reset(response, request);
  };
  const { client } = open([first.url, other.url], { random: () => 0, timeoutMs: 2_500 });
  expect(await outcomeOf(client.sendByMiddleware(retryable))).toBe("409 ");
  expect(first.requests + other.requests).toBeLessThanOrEqual(4);
});

test("a repeated write that cannot be sent again after its wait is reported as late, since it may have been processed", async () => {
  const [first, other] = await start(2, respondInFlight);
  first.respond = (response, request) => {
    first.respond = hang;
    reset(response, request);
  };
  const { client } = open([first.url, other.url], { random: () => 0, requestsMax: 8 });
  const repeated = outcomeOf(client.sendByMiddleware(retryable));
  await expect.poll(() => other.requests).toBe(1);
  other.respond = hang;
  // They take all places while the write waits.
  for (let taken = 0; taken < 8; taken++) void outcomeOf(client.sendByMiddleware(write));
  expect(await repeated).toBe("GATEWAY_TIMEOUT");
});

test("one in eight of the requests in flight may wait, and further repeated writes get the 409 at once", async () => {
  const [first, other] = await start(2, respondInFlight);
  first.respond = reset;
  const { client } = open([first.url, other.url], { random: () => 0, requestsMax: 8, timeoutMs: 1_500 });
  const outcomes: string[] = [];
  const writes = [1, 2, 3].map(async () => outcomes.push(await outcomeOf(client.sendByMiddleware(retryable))));
  await expect.poll(() => outcomes).toEqual(["409 in flight", "409 in flight"]);
  await Promise.all(writes);
});

testBothTransports(
  "a request whose connection was refused goes to another replica, whatever its method",
  async (transport) => {
    const [down, up] = await start(2);
    await down.kill();
    const { client } = open([down.url, up.url], { random: () => 0 });
    for (const method of ["POST", "PATCH", "DELETE"])
      expect(await outcomeOf(client[transport]({ ...write, method }))).toBe("200 ok");
    expect(up.requests).toBe(3);
  },
);

testBothTransports(
  "after the connect timeout a replica counts as one that refused the connection",
  async (transport) => {
    // One replica, since with a second one an attempt ends after 500 ms without a connection.
    const { client } = open([`https://127.0.0.1:${await startMute()}`], { connectTimeoutMs: 50, timeoutMs: 5_000 });
    expect(await outcomeOf(client[transport](write))).toBe("BAD_GATEWAY");
  },
);

test.runIf(process.platform === "linux")("after 500 ms without a connection, even a write goes elsewhere", async () => {
  const [unreachable, other] = await start(2);
  const { client, seen } = open([unreachable.url, other.url], { random: () => 0, connectTimeoutMs: 600_000 });
  await unreachable.kill();
  await startUnreachable(unreachable.port);
  expect(await outcomeOf(client.sendByMiddleware(write))).toBe("200 ok");
  expect(seen.map(({ kind }) => kind)).toEqual(["retried"]);
});

testBothTransports(
  "the body of a 503 is closed when the read is sent to another replica; if all respond so, the client gets the last",
  async (transport) => {
    const [bad, good] = await start(2);
    const closed = new Promise((resolve) => {
      bad.respond = (response) => {
        response.once("close", resolve);
        response.writeHead(503).write("without end");
      };
    });
    const { client } = open([bad.url, good.url], { random: () => 0 });
    expect(await outcomeOf(client[transport](read))).toBe("200 ok");
    await closed;
    good.respond = respondUnavailable;
    expect(await outcomeOf(client[transport](read))).toBe("503 busy");
  },
);

test("a short response that breaks off is fetched from another replica, and fails if no replica sends it whole", async () => {
  const breakOff: typeof reset = (response) => {
    response.writeHead(200, { "content-length": "10" }).write("half");
    setImmediate(() => response.socket?.end());
  };
  const [broken, other] = await start(2);
  broken.respond = breakOff;
  const { client } = open([broken.url, other.url], { random: () => 0 });
  expect(await outcomeOf(client.sendByUndici(read))).toBe("200 ok");
  expect([broken.requests, other.requests]).toEqual([1, 1]);
  other.respond = breakOff;
  expect(await outcomeOf(client.sendByUndici(read))).toBe("BAD_GATEWAY");
});

testBothTransports(
  "a request that cannot be sent is rejected, and no replica counts it as a failure",
  async (transport) => {
    const [replica] = await start(1);
    const { client, seen } = open([replica.url]);
    const sent = client[transport]({ ...read, headers: ["a", "b\r\nc: d"] });
    await expect(sent).rejects.not.toHaveProperty("code", "BAD_GATEWAY");
    expect([replica.requests, seen]).toEqual([0, []]);
  },
);

test("a draining replica gets two more requests at most", async () => {
  const [draining, other] = await start(2);
  const { client, seen } = open([draining.url, other.url], { random: () => 0, nowMs: () => 0 });
  await outcomeOf(client.sendByMiddleware(write));
  draining.respond = respondAndClose;
  const outcomes = await sendRequests(20, 1, () => outcomeOf(client.sendByMiddleware(write)));
  expect(new Set(outcomes)).toEqual(new Set(["200 ok"]));
  expect([draining.requests, other.requests]).toEqual([3, 18]);
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-draining"]);
});

test("no read or write fails while a replica is drained, stopped and restarted", async () => {
  const replicas = await start(2);
  const { client, seen } = open(urlsOf(replicas));
  const end = new AbortController();
  const outcomes = new Set<string>();
  const send = async (sendOne: () => Promise<string>) => {
    while (!end.signal.aborted) {
      outcomes.add(await sendOne());
      await sleep(5);
    }
  };
  const sendRead = () => outcomeOf(client.sendByUndici(read));
  const sendWrite = () => outcomeOf(client.sendByMiddleware(write));
  const traffic = [sendRead, sendRead, sendWrite, sendWrite].map(send);
  const [replica] = replicas;
  await expect.poll(() => replica.requests).toBeGreaterThan(20);
  replica.respond = respondAndClose;
  // The client closes its idle connections before the replica does.
  await sleep(idleMsMax + 100);
  await replica.kill();
  await sleep(100);
  await startReplacement(replica);
  await expect.poll(() => seen.at(-1)?.kind).toBe("replica-restored");
  end.abort();
  await Promise.all(traffic);
  expect(outcomes).toEqual(new Set(["200 ok"]));
});

test("both transports share the health of replicas: one that failed by one transport is ejected for the other", async () => {
  const [bad, good] = await start(2);
  bad.respond = respondUnavailable;
  const { client } = open([bad.url, good.url], { random: () => 0, nowMs: () => 0 });
  await sendRequests(5, 1, () => outcomeOf(client.sendByUndici(read)));
  expect(bad.requests).toBe(5);
  await sendRequests(5, 1, () => outcomeOf(client.sendByMiddleware(read)));
  expect([bad.requests, good.requests]).toEqual([5, 10]);
});

// Only Linux routes all of 127.0.0.0/8 to the machine itself.
test.runIf(process.platform === "linux")(
  "writes follow the address of a name, which is in Host, and a write in flight ends at the removed replica",
  async () => {
    const [removed] = await start(1);
    const respondHost: Respond = (response, request) => void response.end(request.headers.host);
    const added = await startReplica({ respond: respondHost, host: "127.0.0.2", port: removed.port });
    onTestFinished(added.kill);
    const clock = { nowMs: 0 };
    let addresses = ["127.0.0.1"];
    const { client } = open([`http://service.test:${removed.port}`], {
      nowMs: () => clock.nowMs,
      resolveHost: () => Promise.resolve(addresses),
    });
    const send = () => outcomeOf(client.sendByMiddleware(write));
    const arrived = holdResponse(removed);
    const held = send();
    const response = await arrived;
    removed.respond = respondOk;
    addresses = ["127.0.0.2"];
    clock.nowMs = 5_000;
    // Starts the lookup without waiting for it.
    expect(await send()).toBe("200 ok");
    expect(new Set(await sendRequests(10, 2, send))).toEqual(new Set([`200 service.test:${removed.port}`]));
    response.end("from the removed replica");
    expect(await held).toBe("200 from the removed replica");
  },
);

test("a service whose name has no address is a bad gateway", async () => {
  const { client, seen } = open(["http://service.test"], { resolveHost: () => Promise.reject(new Error("ENOTFOUND")) });
  expect(await outcomeOf(client.sendByUndici(read))).toBe("BAD_GATEWAY");
  expect(seen).toMatchObject([{ kind: "dns-lookup-failed", host: "service.test", service: "things" }]);
});

testBothTransports("an IPv6 address works, and is sent in Host with its brackets", async (transport) => {
  const respond: typeof reset = (response, request) => void response.end(request.headers.host);
  const replica = await startReplica({ respond, host: "::1" });
  onTestFinished(replica.kill);
  const { client } = open([`http://[::1]:${replica.port}`]);
  expect(await outcomeOf(client[transport](read))).toBe(`200 [::1]:${replica.port}`);
});
