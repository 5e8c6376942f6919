import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { createDatabase } from "../src/postgres.ts";
import { createTestDatabase, type TestDatabase } from "../src/testing/database.ts";

let test_: TestDatabase;
beforeAll(async () => {
  test_ = await createTestDatabase(inject("postgresUrl"), new URL("migrations", import.meta.url).pathname);
});
afterAll(() => test_.close());

test("a PostgreSQL that takes connections more slowly than anybody waits is reached by the connections that were begun", async () => {
  const door = await startSlowDoor(test_.url);
  const database = open(door.url, { acquireTimeoutMs: 50 });
  for (let tries = 0; tries < 4; tries++) {
    await expect(database.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  }
  door.letIn();
  await expect.poll(() => database.isReachable()).toBe(true);
  expect(door.begun).toBe(1);
});

test("thirty requests that find no connection begin two at once, and are all answered", async () => {
  const door = await startSlowDoor(test_.url);
  const database = open(door.url, { acquireTimeoutMs: 30_000 });
  const all = Array.from({ length: 30 }, () => database.rows<{ one: number }>("read", "select 1 as one"));
  await door.someWait(2);
  expect(database.readPool()).toEqual({ total: 0, idle: 0, waiting: 30 });
  door.letIn();
  expect((await Promise.all(all)).flat()).toEqual(Array.from({ length: 30 }, () => ({ one: 1 })));
  expect(door.atOnceMax).toBe(2);
});

test("a PostgreSQL that went away is asked by few while it is gone, and found when it is back", async () => {
  const door = await startSlowDoor(test_.url);
  door.letIn();
  const database = open(door.url, { acquireTimeoutMs: 30_000 });
  await Promise.all(Array.from({ length: 10 }, () => database.rows("read", "select 1")));
  const before = door.begun;
  door.refuse();
  const refusals = Array.from({ length: 300 }, () =>
    expect(database.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" }),
  );
  await Promise.all(refusals);
  expect(door.begun - before).toBeLessThan(10);
  door.letIn();
  await expect.poll(() => database.isReachable(), { timeout: 10_000 }).toBe(true);
});

test("a statement that fails does not cost its connection", async () => {
  const door = await startSlowDoor(test_.url);
  door.letIn();
  const database = open(door.url, {});
  for (let tries = 0; tries < 3; tries++) {
    await expect(database.rows("wrong", "select nothing from nowhere")).rejects.toMatchObject({ code: "42P01" });
  }
  expect([door.begun, await database.isReachable()]).toEqual([1, true]);
});

/** Stands before PostgreSQL, and does with connections what the test says: lets them wait, lets them in, or ends them all. */
async function startSlowDoor(url: string) {
  const { hostname, port } = new URL(url);
  const waiting = new Set<Socket>();
  const open = new Set<Socket>();
  let mode: "hold" | "in" | "refuse" = "hold";
  let arrived = Promise.withResolvers<void>();
  const server = createServer((client) => {
    door.begun++;
    track(client);
    waiting.add(client);
    client.once("close", () => waiting.delete(client));
    door.atOnceMax = Math.max(door.atOnceMax, waiting.size);
    if (mode === "in") pass(client);
    if (mode === "refuse") client.destroy();
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  const door = {
    url: "",
    begun: 0,
    atOnceMax: 0,
    letIn() {
      mode = "in";
      for (const client of waiting) pass(client);
    },
    refuse() {
      mode = "refuse";
      for (const socket of open) socket.destroy();
    },
    async someWait(count: number) {
      while (waiting.size < count) await arrived.promise;
    },
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  onTestFinished(() => door.refuse());
  const there = new URL(url);
  there.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  door.url = there.href;
  return door;

  function pass(client: Socket): void {
    const upstream = connect(Number(port), hostname);
    track(upstream);
    upstream.once("data", () => waiting.delete(client));
    client.pipe(upstream).pipe(client);
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
  }

  function track(socket: Socket): void {
    open.add(socket);
    socket.on("error", () => {}).once("close", () => open.delete(socket));
  }
}

function open(url: string, o: { readonly acquireTimeoutMs?: number }) {
  const database = createDatabase({
    url,
    applicationName: "test",
    connectionsMax: 10,
    statementTimeoutMs: 5_000,
    lockTimeoutMs: 5_000,
    acquireTimeoutMs: 5_000,
    ...o,
  });
  onTestFinished(() => database.close());
  return database;
}
