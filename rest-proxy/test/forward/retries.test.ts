import { setTimeout as sleep } from "node:timers/promises";
import { startUnreachable } from "@tributary/kit/testing/unreachable-port";
import { idleMsMax } from "@tributary/kit/upstream/undici-transport";
import { describe, expect, test } from "vitest";
import type { ServiceRequest } from "../../src/forward/client.ts";
import {
  isNot,
  open,
  outcomeOf,
  read,
  type ReplicaServer,
  reset,
  respondOk,
  respondUnavailable,
  startMute,
  startReplica,
  startTwo,
  stream,
  transports,
  write,
} from "./replicas.ts";

const urlsOf = (replicas: readonly ReplicaServer[]) => replicas.map(({ url }) => url);
const requestsOf = ([one, two]: readonly [ReplicaServer, ReplicaServer]) => one.requests + two.requests;
const keyed = { ...write, headers: [...write.headers, "Idempotency-Key", "k-1"] };

describe.each(transports)("%s", (transport) => {
  test("no read is lost when a replica is killed under a stream of reads", async () => {
    const [doomed, other] = await startTwo();
    const { client, seen } = open([doomed.url, other.url]);
    let sent = 0;
    const outcomes = await stream(2_000, 32, () => {
      if (++sent === 700) void doomed.kill();
      return outcomeOf(client[transport](read));
    });
    expect(outcomes.filter(isNot("200 ok"))).toEqual([]);
    const ejected = seen.filter((observed) => observed.kind === "replica-ejected");
    expect(ejected.filter(({ replica }) => replica === `${doomed.url}/`)).toHaveLength(1);
    expect(requestsOf([doomed, other])).toBeLessThan(2_000 * 1.2);
  });

  test("five resets in a hundred requests fail at most one read in a thousand, for at most a fifth more requests", async () => {
    let draws = 0;
    // Every twentieth request: deterministic, unlike a random share.
    const replicas = await startTwo((response, request) => (++draws % 20 === 0 ? reset : respondOk)(response, request));
    // A small burst: the share per request has to suffice.
    const retryBudget = { perRequest: 0.1, perSecond: 0, burstMax: 20 };
    const { client } = open(urlsOf(replicas), { retryBudget });
    const outcomes = await stream(3_000, 16, () => outcomeOf(client[transport](read)));
    expect(outcomes.filter(isNot("200 ok")).length).toBeLessThanOrEqual(3);
    expect(requestsOf(replicas)).toBeGreaterThan(3_000 * 1.03);
    expect(requestsOf(replicas)).toBeLessThanOrEqual(3_000 * 1.2);
  });

  test.each([
    ["a POST without a key", { ...write, takesIdempotencyKey: true }],
    ["a POST with an empty key", { ...keyed, headers: ["idempotency-key", " "], takesIdempotencyKey: true }],
    ["a POST with a key that its route does not accept", keyed],
    ["a PATCH with a key", { ...keyed, method: "PATCH", takesIdempotencyKey: true }],
    ["a DELETE", { ...write, method: "DELETE" }],
  ])("%s is never sent twice after it may have arrived", async (_, request) => {
    const replicas = await startTwo();
    const { client, seen } = open(urlsOf(replicas));
    for (const respond of [reset, respondUnavailable]) {
      for (const replica of replicas) replica.respond = respond;
      await stream(40, 4, () => outcomeOf(client[transport](request)));
    }
    expect(requestsOf(replicas)).toBe(80);
    expect(seen.map(({ kind }) => kind)).not.toContain("retried");
  });

  test("a POST with a key that its route accepts is sent again with its body", async () => {
    const [bad, good] = await startTwo();
    bad.respond = reset;
    good.respond = (response, request) => void request.pipe(response);
    const { client } = open([bad.url, good.url], { random: () => 0 });
    expect(await outcomeOf(client[transport]({ ...keyed, takesIdempotencyKey: true }))).toBe("200 {}");
    expect([bad.requests, good.requests]).toEqual([1, 1]);
  });

  test("a request whose connection was refused goes to another replica, whatever its method", async () => {
    const [down, up] = await startTwo();
    await down.kill();
    const { client } = open([down.url, up.url], { random: () => 0 });
    for (const method of ["POST", "PATCH", "DELETE"])
      expect(await outcomeOf(client[transport]({ ...write, method }))).toBe("200 ok");
    expect(up.requests).toBe(3);
  });

  test("a draining replica gets two more requests at most", async () => {
    const [draining, other] = await startTwo();
    const { client, seen } = open([draining.url, other.url], { random: () => 0, nowMs: () => 0 });
    await outcomeOf(client[transport](write));
    draining.respond = (response) => void response.setHeader("Connection", "close").end("ok");
    const outcomes = await stream(20, 1, () => outcomeOf(client[transport](write)));
    expect(outcomes.filter(isNot("200 ok"))).toEqual([]);
    expect([draining.requests, other.requests]).toEqual([3, 18]);
    expect(seen.map(({ kind }) => kind)).toEqual(["replica-draining"]);
  });

  test.runIf(process.platform === "linux")(
    "after 500 ms without a connection, even a write goes elsewhere",
    async () => {
      const [unreachable, other] = await startTwo();
      const { client, seen } = open([unreachable.url, other.url], { random: () => 0, connectTimeoutMs: 600_000 });
      await unreachable.kill();
      await startUnreachable(unreachable.port);
      for (const request of [read, write, read]) expect(await outcomeOf(client[transport](request))).toBe("200 ok");
      expect(seen.map(({ kind }) => kind)).toEqual(["retried", "replica-ejected", "retried"]);
    },
  );

  test("after 500 ms without a response a read goes elsewhere, and two of them eject the replica", async () => {
    const [silent, other] = await startTwo();
    silent.respond = () => undefined;
    const { client, seen } = open([silent.url, other.url], { random: () => 0 });
    const outcomes = await stream(4, 1, () => outcomeOf(client[transport](read)));
    expect(outcomes.filter(isNot("200 ok"))).toEqual([]);
    expect(seen.map(({ kind }) => kind)).toEqual(["retried", "replica-ejected", "retried"]);
    expect([silent.requests, other.requests]).toEqual([2, 4]);
  });

  test("no request fails while replicas are drained and restarted one after the other, half of them writes", async () => {
    const replicas = await startTwo();
    const { client, seen } = open(urlsOf(replicas));
    const end = new AbortController();
    const outcomes = new Set<string>();
    const send = async (request: ServiceRequest) => {
      while (!end.signal.aborted) {
        outcomes.add(await outcomeOf(client[transport](request)));
        await sleep(5);
      }
    };
    const traffic = [read, read, write, write].map(send);
    for (const replica of replicas) {
      await sleep(100);
      replica.respond = (response) => void response.setHeader("Connection", "close").end("ok");
      await sleep(idleMsMax + 100);
      await replica.kill();
      await sleep(300);
      await startReplica(respondOk, { port: replica.port });
      await expect.poll(() => seen.at(-1)?.kind, { timeout: 5_000 }).toBe("replica-restored");
    }
    end.abort();
    await Promise.all(traffic);
    expect(outcomes).toEqual(new Set(["200 ok"]));
  });

  test("after the connect timeout even a write goes elsewhere", async () => {
    const [up] = await startTwo();
    const { client, seen } = open([`https://127.0.0.1:${await startMute()}`, up.url], {
      connectTimeoutMs: 50,
      random: () => 0,
    });
    expect(await outcomeOf(client[transport](write))).toBe("200 ok");
    expect(seen).toMatchObject([{ kind: "retried", reason: "refused", service: "things" }]);
  });

  test("a read that got a 503 is sent to another replica; if all respond so, the client gets it", async () => {
    const replicas = await startTwo();
    const [busy, free] = replicas;
    busy.respond = respondUnavailable;
    const { client } = open(urlsOf(replicas), { random: () => 0 });
    expect(await outcomeOf(client[transport](read))).toBe("200 ok");
    expect([busy.requests, free.requests]).toEqual([1, 1]);
    free.respond = respondUnavailable;
    expect(await outcomeOf(client[transport](read))).toBe("503 busy");
  });

  test("the body of a 503 is closed when the read is sent to another replica", async () => {
    const [bad, good] = await startTwo();
    const closed = new Promise((resolve) => {
      bad.respond = (response) => {
        response.once("close", resolve);
        response.writeHead(503).write("without end");
      };
    });
    const { client } = open([bad.url, good.url], { random: () => 0 });
    expect(await outcomeOf(client[transport](read))).toBe("200 ok");
    await closed;
  });

  test("a 503 with Retry-After is returned, not sent to another replica, and does not count as a failure", async () => {
    const replicas = await startTwo((response) => void response.writeHead(503, { "Retry-After": "2" }).end("later"));
    const { client, seen } = open(urlsOf(replicas));
    const outcomes = await stream(40, 4, () => outcomeOf(client[transport](read)));
    expect(outcomes.filter(isNot("503 later"))).toEqual([]);
    expect([requestsOf(replicas), seen]).toEqual([40, []]);
  });

  test("when the budget is used up, failures are final", async () => {
    const replicas = await startTwo(reset);
    const { client } = open(urlsOf(replicas), { retryBudget: { perRequest: 0, perSecond: 0, burstMax: 3 } });
    const outcomes = await stream(20, 1, () => outcomeOf(client[transport](read)));
    expect(outcomes.filter(isNot("BAD_GATEWAY"))).toEqual([]);
    expect(requestsOf(replicas)).toBe(23);
  });

  test("a request that cannot be sent is rejected, and no replica counts it as a failure", async () => {
    const [replica] = await startTwo();
    const { client, seen } = open([replica.url]);
    const sent = client[transport]({ ...read, headers: ["a", "b\r\nc: d"] });
    await expect(sent).rejects.not.toHaveProperty("code", "BAD_GATEWAY");
    expect([replica.requests, seen]).toEqual([0, []]);
  });
});

test("both transports share the health of replicas: one that failed by one transport is ejected for the other", async () => {
  const [bad, good] = await startTwo();
  bad.respond = respondUnavailable;
  const { client } = open([bad.url, good.url], { random: () => 0, nowMs: () => 0 });
  await stream(5, 1, () => outcomeOf(client.sendByUndici(read)));
  expect(bad.requests).toBe(5);
  await stream(5, 1, () => outcomeOf(client.sendByMiddleware(read)));
  expect([bad.requests, good.requests]).toEqual([5, 10]);
});
