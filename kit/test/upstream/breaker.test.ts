// With real servers. In virtual time: schedules.test.ts.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  hang,
  type ReplicaServer,
  type Respond,
  respondOk,
  respondUnavailable,
  start,
  startReplacement,
  startReplica,
} from "./replica.ts";
import { open, read, sendRequests, write } from "./requests.ts";

type Seen = ReturnType<typeof open>["seen"];

const breakerChanges = (seen: Seen) =>
  seen.flatMap((observation) => (observation.kind === "breaker-changed" ? [observation.isOpen] : []));

/** Other requests than probes. */
function countRequests(replica: ReplicaServer, respond: Respond): { requests: number; probes: number } {
  const counts = { requests: 0, probes: 0 };
  replica.respond = (response, request) => {
    const isProbe = request.url === "/health/live";
    counts[isProbe ? "probes" : "requests"]++;
    (isProbe ? respondOk : respond)(response, request);
  };
  return counts;
}

test("while no replica responds, requests fail at once and are not sent; the first responses let them through again", async () => {
  const replicas = await start(2);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  await sendRequests(20, 4, () => upstream.send(read));
  for (const replica of replicas) replica.respond = hang;
  const waiting = [];
  while (!breakerChanges(seen).includes(true) && waiting.length < 500) {
    waiting.push(upstream.send({ ...read, timeoutMs: 5_000 }));
    await sleep(50);
  }
  const requests = replicas.map((replica) => replica.requests);
  const startedAtMs = performance.now();
  for (const request of [read, write]) {
    expect(await upstream.send(request)).toMatchObject({ kind: "failed", reason: "breaker-open", replica: undefined });
  }
  expect(performance.now() - startedAtMs).toBeLessThan(50);
  expect(upstream.readStatus()).toMatchObject({ breaker: "open", replicas: [{}, {}] });
  // One probe may have arrived meanwhile.
  expect(Math.max(...replicas.map((replica, index) => replica.requests - (requests[index] ?? 0)))).toBeLessThanOrEqual(
    1,
  );
  for (const replica of replicas) replica.respond = respondOk;
  await vi.waitUntil(() => breakerChanges(seen).at(-1) === false, { timeout: 10_000 });
  expect(await upstream.send(read)).toMatchObject({ kind: "response", status: 200 });
  expect(breakerChanges(seen)).toEqual([true, false]);
  expect(upstream.readStatus()).toMatchObject({ breaker: "closed" });
  // They did not wait for their deadlines.
  for (const result of await Promise.all(waiting)) expect(result).toMatchObject({ reason: "breaker-open" });
});

test("a service whose requests all take long is probed, responds, and is not cut off", async () => {
  const [replica] = await start(1);
  const report: Respond = (response) => void setTimeout(() => response.end("report"), 3_000);
  const counts = countRequests(replica, report);
  const { upstream, seen } = open([replica.url]);
  const reports = sendRequests(5, 5, () => upstream.send(read));
  for (let sent = 0; counts.probes === 0 && sent < 100; sent++) {
    void upstream.send({ ...read, signal: AbortSignal.timeout(50) });
    await sleep(100);
  }
  expect(counts.probes).toBeGreaterThan(0);
  expect((await reports).every(({ kind }) => kind === "response")).toBe(true);
  expect(seen).toEqual([]);
});

test("a service that serves one long request at a time, and no probe meanwhile, is not cut off once its latency is known", async () => {
  const [replica] = await start(1);
  let queue = Promise.resolve();
  replica.respond = (response) => {
    queue = queue.then(
      () =>
        new Promise((resolve) => {
          setTimeout(() => {
            response.end("report");
            resolve();
          }, 1_300);
        }),
    );
  };
  const { upstream, seen } = open([replica.url]);
  await sendRequests(2, 1, () => upstream.send(read));
  const results = await sendRequests(5, 5, () => upstream.send({ ...read, timeoutMs: 60_000 }));
  expect(results.every(({ kind }) => kind === "response")).toBe(true);
  expect(seen).toEqual([]);
});

test("a service that is slow after its silence is used again, also while one replica is still silent", async () => {
  const replicas = await start(2, hang);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  for (let sent = 0; !breakerChanges(seen).includes(true) && sent < 500; sent++) {
    void upstream.send({ ...read, timeoutMs: 5_000 });
    await sleep(50);
  }
  const slow: Respond = (response) => void setTimeout(() => response.end("slow"), 700);
  const [first] = replicas;
  if (first) first.respond = slow;
  await vi.waitUntil(() => breakerChanges(seen).at(-1) === false, { timeout: 10_000 });
});

test("rejections for overload and clients that disconnect do not open it", async () => {
  const replicas = await start(2, respondUnavailable);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  const startedAtMs = performance.now();
  const client = async () => {
    while (performance.now() - startedAtMs < 1_500) await Promise.all([upstream.send(read), sleep(20)]);
  };
  await Promise.all(Array.from({ length: 8 }, client));
  for (const replica of replicas) countRequests(replica, hang);
  for (let sent = 0; sent < 30; sent++) {
    void upstream.send({ ...read, signal: AbortSignal.timeout(400) });
    await sleep(50);
  }
  expect(breakerChanges(seen)).toEqual([]);
});

test("refused connections open it while many clients wait, and it closes after a restart", async () => {
  const replicas = await start(2);
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  await Promise.all(replicas.map((replica) => replica.kill()));
  const sendUntil = async (isOpen: boolean) => {
    for (let count = 0; breakerChanges(seen).at(-1) !== isOpen && count < 10_000; count++) {
      await Promise.all([upstream.send(read), sleep(1)]);
    }
  };
  await Promise.all(Array.from({ length: 20 }, () => sendUntil(true)));
  for (const replica of replicas) await startReplacement(replica);
  await sendUntil(false);
  expect(await upstream.send(read)).toMatchObject({ kind: "response" });
});

test("while it is open, the name is looked up: replicas that come back at another address close it", async () => {
  const [old] = await start(1);
  const successor = await startReplica({ host: "127.0.0.2", port: old.port });
  onTestFinished(successor.kill);
  let address = "127.0.0.1";
  const { upstream, seen } = open([`http://service.test:${old.port}`], {
    resolveHost: () => Promise.resolve([address]),
  });
  expect(await upstream.send(read)).toMatchObject({ status: 200 });
  await old.kill();
  for (let i = 0; i < 100 && !breakerChanges(seen).includes(true); i++) {
    await upstream.send(read);
    await sleep(50);
  }
  expect(breakerChanges(seen)).toEqual([true]);
  address = "127.0.0.2";
  await vi.waitUntil(() => breakerChanges(seen).at(-1) === false, { timeout: 10_000 });
  expect(await upstream.send(read)).toMatchObject({ status: 200 });
});

test("it does not open while no address is known: requests wait for the lookup", async () => {
  const [replica] = await start(1);
  let exists = false;
  const { upstream, seen } = open([`http://service.test:${replica.port}`], {
    resolveHost: () => (exists ? Promise.resolve(["127.0.0.1"]) : Promise.reject(new Error("ENOTFOUND"))),
  });
  for (let i = 0; i < 40; i++) {
    expect(await upstream.send(read)).toMatchObject({ reason: "refused" });
    await sleep(50);
  }
  exists = true;
  await vi.waitUntil(async () => (await upstream.send(read)).kind === "response", { timeout: 10_000, interval: 50 });
  expect(breakerChanges(seen)).toEqual([]);
});
