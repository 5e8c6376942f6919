import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Valkey } from "iovalkey";
import { expect, onTestFinished, test as vitestTest } from "vitest";
import { findStoreProgram, startStoreServer, type StoreServer } from "../testing/store-server.ts";
import { createCallerLimits, type CallerLimitsOptions, type RateLimitObservation } from "./caller-limits.ts";
import type { RateDecision, RequestClass } from "./rate-decision.ts";

// Limits that processes share by a real server of Valkey or Redis. Each "process" is one object with its own connection.

const program = findStoreProgram();
const test = vitestTest.skipIf(program === undefined);
vitestTest.runIf(program === undefined)(
  "skipped: install Debian's redis-server or valkey-server to run these tests",
  () => {},
);

interface SharingProcess {
  charge(key: string, requestClass: RequestClass, weight: number): RateDecision;
  admit(key: string, requestClass: RequestClass, weight: number): RateDecision | undefined;
  debit(key: string, requestClass: RequestClass, weight: number): void;
  refund(key: string, requestClass: RequestClass, weight: number): void;
  readonly observed: readonly RateLimitObservation[];
  readonly isAvailable: () => boolean;
  /** Sends one charge in each turn of the event loop. @returns how many were admitted. */
  send(caller: string, charges: number): Promise<number>;
}

async function startServer(): Promise<StoreServer> {
  const server = await startStoreServer(program ?? "valkey-server");
  onTestFinished(() => server.kill());
  return server;
}

async function startProcesses(server: StoreServer, count: number, readsPerMinute: number): Promise<SharingProcess[]> {
  const processes = Array.from({ length: count }, () =>
    createProcess(server.url, { readsPerMinute, processesMin: count }),
  );
  for (const { isAvailable } of processes) await expect.poll(isAvailable).toBe(true);
  return processes;
}

function createProcess(storeUrl: string, o: Partial<CallerLimitsOptions>): SharingProcess {
  const observed: RateLimitObservation[] = [];
  let isAvailable = false;
  const observe = (observation: RateLimitObservation) => {
    observed.push(observation);
    if (observation.kind === "store-available") isAvailable = true;
    if (observation.kind === "store-unavailable") isAvailable = false;
  };
  const defaults = { readsPerMinute: 60, writesPerMinute: 10, callersMax: 1_000, processesMin: 1 };
  const callers = { callerWithoutToken: () => callerOf("grace") };
  const more = { exempt: [], trustedProxies: [], storePassword: undefined, callers, storeUrl, observe };
  const limits = createCallerLimits({ ...defaults, ...more, ...o });
  const charge = (key: string, requestClass: RequestClass, weight: number) =>
    limits.charge(callerOf(key), requestClass, weight) as RateDecision;
  onTestFinished(() => limits.close());
  async function send(caller: string, charges: number): Promise<number> {
    let admitted = 0;
    for (let sent = 0; sent < charges; sent++) {
      if (charge(caller, "reads", 1).isAdmitted) admitted++;
      await sleep(1);
    }
    return admitted;
  }
  return {
    charge,
    admit: (key, requestClass, weight) => limits.admit(callerOf(key), requestClass, weight),
    debit: (key, requestClass, weight) => limits.debit(callerOf(key), requestClass, weight),
    refund: (key, requestClass, weight) => limits.refund(callerOf(key), requestClass, weight),
    observed,
    isAvailable: () => isAvailable,
    send,
  };
}

function callerOf(key: string) {
  return { key, address: "192.0.2.1" };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

test("two processes admit one quota, and at most one lease more each", async () => {
  const processes = await startProcesses(await startServer(), 2, 300);
  const startMs = performance.now();
  const admitted = sum(await Promise.all(processes.map(({ send }) => send("ada", 300))));
  const replenished = ((performance.now() - startMs) / 60_000) * 300;
  const lease = 15;
  expect(admitted).toBeGreaterThanOrEqual(300 - 2 * lease);
  expect(admitted).toBeLessThanOrEqual(300 + 2 * lease + replenished);
});

test("a rejected caller is admitted by every process once the quota is replenished, and not before", async () => {
  const [first, second] = (await startProcesses(await startServer(), 2, 60)) as [SharingProcess, SharingProcess];
  await first.send("ada", 100);
  await second.send("ada", 10);
  // A unit may have been replenished meanwhile.
  let rejected = second.charge("ada", "reads", 1);
  while (rejected.isAdmitted) rejected = second.charge("ada", "reads", 1);
  // Timers count whole milliseconds.
  await sleep(Math.ceil(rejected.retryMs) + 1);
  expect(second.charge("ada", "reads", 1).isAdmitted).toBe(true);
});

test("a first request is admitted before the store responds, and a charge above one lease too", async () => {
  const [only] = (await startProcesses(await startServer(), 1, 60)) as [SharingProcess];
  expect(only.charge("ada", "reads", 1).isAdmitted).toBe(true);
  expect(only.charge("ada", "reads", 20)).toMatchObject({ isAdmitted: true, remaining: 39 });
  expect(only.charge("grace", "reads", 61)).toMatchObject({ isAdmitted: false });
});

test("units that are refunded can be used again", async () => {
  // One is replenished in 20 s.
  const [only] = (await startProcesses(await startServer(), 1, 3)) as [SharingProcess];
  // 0 while the store has more units.
  await expect.poll(() => only.admit("ada", "reads", 1)?.retryMs ?? 0).toBeGreaterThan(0);
  only.refund("ada", "reads", 1);
  expect(only.admit("ada", "reads", 1)).toBeUndefined();
});

test("units that are refunded before the store responds can be used again, once", async () => {
  const units = 3;
  const [only] = (await startProcesses(await startServer(), 1, units)) as [SharingProcess];
  const admit = () => only.admit("ada", "reads", 1);
  // On credit: the call in flight takes the first unit from the store.
  expect([admit(), admit()]).toEqual([undefined, undefined]);
  expect(admit()).toMatchObject({ isAdmitted: false });
  only.refund("ada", "reads", 1);
  expect(admit()).toBeUndefined();
  only.refund("ada", "reads", 2);
  let admitted = 0;
  async function useUp(): Promise<number> {
    const rejected = admit();
    if (!rejected) admitted++;
    return rejected?.retryMs ?? 0;
  }
  await expect.poll(useUp).toBeGreaterThan(0);
  expect(admitted).toBe(units);
});

test("a debit in one process counts in the others", async () => {
  const [first, second] = (await startProcesses(await startServer(), 2, 60)) as [SharingProcess, SharingProcess];
  first.debit("ada", "reads", 60);
  await expect.poll(() => second.charge("ada", "reads", 1).isAdmitted).toBe(false);
});

test("the store contains no caller's key, and nothing that never expires", async () => {
  const server = await startServer();
  const [only] = (await startProcesses(server, 1, 60)) as [SharingProcess];
  await only.send("user:ada@example.org", 2);
  const client = new Valkey(server.url);
  // The lease is taken after the response.
  await expect.poll(() => client.keys("*")).toHaveLength(2);
  const keys = await client.keys("*");
  const ttls = await Promise.all(keys.map((key) => client.pttl(key)));
  client.disconnect();
  expect(keys.join()).not.toContain("ada");
  for (const ttl of ttls) expect(ttl).toBeGreaterThan(0);
});

test("a user of the store has the configured password", async () => {
  const server = await startServer();
  const client = new Valkey(server.url);
  await client.call("ACL", "SETUSER", "ada", "on", ">p@ss/%25 word", "~*", "+@all");
  client.disconnect();
  const url = server.url.replace("//", "//ada@");
  const only = createProcess(url, { readsPerMinute: 60, storePassword: "p@ss/%25 word" });
  await expect.poll(only.isAvailable).toBe(true);
});

test("a store that has lost its scripts gets them again", async () => {
  const server = await startServer();
  const [only] = (await startProcesses(server, 1, 600)) as [SharingProcess];
  await only.send("ada", 1);
  const client = new Valkey(server.url);
  await client.script("FLUSH");
  client.disconnect();
  const before = only.observed.length;
  expect(await only.send("ada", 200)).toBe(200);
  // A single call may take too long.
  const succeeded = () => only.observed.slice(before).filter((o) => o.kind === "store-called" && o.result === "ok");
  await expect.poll(() => succeeded().length).toBeGreaterThan(3);
});

test("a killed store changes each process to its share of the limit, and a restarted one is used again", async () => {
  const server = await startServer();
  const processes = await startProcesses(server, 2, 200);
  await server.kill();
  for (const { isAvailable } of processes) await expect.poll(isAvailable).toBe(false);
  const startMs = performance.now();
  const admitted = await Promise.all(processes.map(({ send }) => send("ada", 200)));
  const replenished = Math.ceil(((performance.now() - startMs) / 60_000) * 100);
  for (const count of admitted) {
    expect(count).toBeGreaterThanOrEqual(100);
    expect(count).toBeLessThanOrEqual(100 + replenished);
  }
  await server.start();
  for (const { isAvailable } of processes) await expect.poll(isAvailable).toBe(true);
  for (const { observed } of processes) {
    const outages = observed.map(({ kind }) => kind).filter((kind) => kind.endsWith("available"));
    expect(outages).toEqual(["store-available", "store-unavailable", "store-available"]);
  }
});

test("a store that does not respond delays no charge, and is used again when it responds", async () => {
  const server = await startServer();
  const [only] = (await startProcesses(server, 1, 6_000)) as [SharingProcess];
  server.freeze(true);
  onTestFinished(() => server.freeze(false));
  expect(await only.send("ada", 400)).toBe(400);
  await expect.poll(only.isAvailable).toBe(false);
  server.freeze(false);
  await expect.poll(only.isAvailable).toBe(true);
});

test("a connection that carries no more data, and is not closed, is replaced", async () => {
  const network = await startNetwork(await startServer());
  const only = createProcess(network.url, { readsPerMinute: 60 });
  await expect.poll(only.isAvailable).toBe(true);
  network.lose();
  await expect.poll(only.isAvailable).toBe(false);
  await expect.poll(only.isAvailable).toBe(true);
});

/** Forwards connections to the store. Those that are open when it is lost carry no more data, as after a failure of a host between the two. */
async function startNetwork({ url }: StoreServer) {
  const opened: (readonly [Socket, Socket])[] = [];
  const server = createServer((fromClient) => {
    const toStore = connect(Number(new URL(url).port), "127.0.0.1");
    for (const socket of [fromClient, toStore]) socket.on("error", () => {});
    fromClient.pipe(toStore).pipe(fromClient);
    opened.push([fromClient, toStore]);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    for (const socket of opened.flat()) socket.destroy();
    server.close();
  });
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose() {
      for (const [fromClient, toStore] of opened) {
        fromClient.unpipe();
        toStore.unpipe();
      }
    },
  };
}
