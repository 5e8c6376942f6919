import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from "vitest";
import { createDatabase, type DatabaseOptions } from "../src/postgres/postgres.ts";
import { createTestDatabase, type TestDatabase } from "../src/testing/database.ts";

let test_: TestDatabase;
beforeAll(async () => {
  test_ = await createTestDatabase(inject("postgresUrl"), new URL("migrations", import.meta.url).pathname);
});
afterAll(() => test_.close());

test("a PostgreSQL that takes connections more slowly than anybody waits is reached by the connections that were begun", async () => {
  const door = await startSlowDoor(test_.url);
  const database = open(door.url, { acquireTimeoutMs: 50, connectionsMax: 2 });
  for (let tries = 0; tries < 4; tries++) {
    await expect(database.rows("read", "select 1")).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      dependency: "database",
    });
  }
  door.letIn();
  await expect.poll(() => database.isReachable()).toBe(true);
  expect(door.begun).toBe(2);
});

test("thirty requests that find no connection begin no more than there may be, and are all answered", async () => {
  const door = await startSlowDoor(test_.url);
  const database = open(door.url, { acquireTimeoutMs: 30_000 });
  const all = Array.from({ length: 30 }, () => database.rows<{ one: number }>("read", "select 1 as one"));
  await door.someWait(10);
  expect(database.readPool()).toEqual({ total: 0, idle: 0, waiting: 30 });
  door.letIn();
  expect((await Promise.all(all)).flat()).toEqual(Array.from({ length: 30 }, () => ({ one: 1 })));
  expect(door.begun).toBe(10);
});

test("a PostgreSQL that went away is asked by few while it is gone, and found when it is back", async () => {
  const door = await startSlowDoor(test_.url);
  door.letIn();
  const database = open(door.url, { acquireTimeoutMs: 30_000 });
  await Promise.all(Array.from({ length: 10 }, () => database.rows("read", "select 1")));
  const before = door.begun;
  const clock = stopClock();
  door.refuse();
  const refusals = Array.from({ length: 300 }, () =>
    expect(database.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" }),
  );
  await Promise.all(refusals);
  expect(door.begun - before).toBeLessThanOrEqual(10);
  clock.mockRestore();
  door.letIn();
  await expect.poll(() => database.isReachable(), { timeout: 10_000 }).toBe(true);
});

test("where PostgreSQL takes no more connections, who waits gets one of those that stand", async () => {
  const door = await startSlowDoor(test_.url);
  door.letIn();
  const database = open(door.url, { acquireTimeoutMs: 30_000 });
  stopClock();
  const waiting = await database.transaction(async (transaction) => {
    door.shut();
    await expect(database.rows("read", "select 1 as one")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    const all = Array.from({ length: 30 }, () => database.rows<{ one: number }>("read", "select 1 as one"));
    await transaction.rows("read", "select 1 as one");
    return { all };
  });
  expect(await Promise.all(waiting.all)).toHaveLength(30);
  expect(door.begun).toBe(2);
});

test("while PostgreSQL refuses, nobody who comes is made to wait, and it is not asked again at once", async () => {
  const door = await startSlowDoor(test_.url);
  door.refuse();
  const database = open(door.url, { acquireTimeoutMs: 30_000 });
  stopClock();
  await expect(database.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  await expect(database.rows("read", "select 1")).rejects.toMatchObject({
    cause: { message: "PostgreSQL refuses connections" },
  });
  expect(door.begun).toBe(1);
});

test("who comes when two hundred wait for each connection there may be is told so at once", async () => {
  const door = await startSlowDoor(test_.url);
  const database = open(door.url, { acquireTimeoutMs: 30_000, connectionsMax: 1 });
  // One is there whose connection is being made.
  const all = Array.from({ length: 201 }, () => database.rows("read", "select 1"));
  await expect(database.rows("read", "select 1")).rejects.toMatchObject({
    cause: { message: "200 wait for a connection already" },
  });
  door.letIn();
  await Promise.all(all);
});

test("closing waits for what is in use, ends what is begun, and refuses whoever waits and comes", async () => {
  const door = await startSlowDoor(test_.url);
  door.letIn();
  const database = open(door.url, { acquireTimeoutMs: 30_000, connectionsMax: 2 });
  const work = Promise.withResolvers<void>();
  onTestFinished(() => work.resolve());
  const begun = Promise.withResolvers<void>();
  const inUse = database.transaction(async (transaction) => {
    begun.resolve();
    await work.promise;
    return transaction.rows<{ one: number }>("read", "select 1 as one");
  });
  await begun.promise;
  door.hold();
  const waiting = [database.rows("read", "select 1"), database.rows("read", "select 1")];
  await door.someWait(1);
  const order: string[] = [];
  const closed = database.close().then(() => order.push("closed"));
  await Promise.all(
    [...waiting, database.rows("read", "select 1")].map((one) =>
      expect(one).rejects.toMatchObject({ cause: { message: "The pool is closed" } }),
    ),
  );
  await expect.poll(() => door.held(), { timeout: 10_000 }).toBe(0);
  order.push("released");
  work.resolve();
  expect(await inUse).toEqual([{ one: 1 }]);
  await closed;
  expect(order).toEqual(["released", "closed"]);
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
  let mode: "hold" | "in" | "shut" = "hold";
  let arrived = Promise.withResolvers<void>();
  const server = createServer((client) => {
    door.begun++;
    track(client);
    waiting.add(client);
    client.once("close", () => waiting.delete(client));
    if (mode === "in") pass(client);
    if (mode === "shut") client.destroy();
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  const door = {
    url: "",
    begun: 0,
    held: () => waiting.size,
    hold() {
      mode = "hold";
    },
    letIn() {
      mode = "in";
      for (const client of waiting) pass(client);
    },
    /** Those that are in stay. */
    shut() {
      mode = "shut";
    },
    refuse() {
      mode = "shut";
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

/** However slow the machine is, what happens in the test happens within the rest after a refusal. */
function stopClock() {
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  return clock;
}

function open(url: string, o: Partial<Pick<DatabaseOptions, "acquireTimeoutMs" | "connectionsMax">>) {
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
