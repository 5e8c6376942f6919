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

test("a PostgreSQL that accepts connections more slowly than requests wait is reached by earlier attempts", async () => {
  const proxy = await startSlowProxy(test_.url);
  const database = open(proxy.url, { acquireTimeoutMs: 50, connectionsMax: 2 });
  for (let tries = 0; tries < 4; tries++) {
    await expect(database.rows("read", "select 1")).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      dependency: "database",
    });
  }
  proxy.accept();
  await expect.poll(() => database.isReachable()).toBe(true);
  expect(proxy.attempts).toBe(2);
});

test("thirty requests without a connection open at most the maximum, and all succeed", async () => {
  const proxy = await startSlowProxy(test_.url);
  const database = open(proxy.url, { acquireTimeoutMs: 30_000 });
  const all = Array.from({ length: 30 }, () => database.rows<{ one: number }>("read", "select 1 as one"));
  await proxy.waitForAttempts(10);
  expect(database.readPool()).toEqual({ total: 0, idle: 0, waiting: 30 });
  proxy.accept();
  expect((await Promise.all(all)).flat()).toEqual(Array.from({ length: 30 }, () => ({ one: 1 })));
  expect(proxy.attempts).toBe(10);
});

test("a PostgreSQL that is down gets few attempts, and is used again once it is up", async () => {
  const proxy = await startSlowProxy(test_.url);
  proxy.accept();
  const database = open(proxy.url, { acquireTimeoutMs: 30_000 });
  await Promise.all(Array.from({ length: 10 }, () => database.rows("read", "select 1")));
  const before = proxy.attempts;
  const clock = stopClock();
  proxy.refuse();
  const rejections = Array.from({ length: 300 }, () =>
    expect(database.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" }),
  );
  await Promise.all(rejections);
  expect(proxy.attempts - before).toBeLessThanOrEqual(10);
  clock.mockRestore();
  proxy.accept();
  await expect.poll(() => database.isReachable()).toBe(true);
});

test("if PostgreSQL accepts no more connections, waiting requests get the open ones", async () => {
  const proxy = await startSlowProxy(test_.url);
  proxy.accept();
  const database = open(proxy.url, { acquireTimeoutMs: 30_000 });
  stopClock();
  const waiting = await database.transaction(async (transaction) => {
    proxy.rejectNew();
    await expect(database.rows("read", "select 1 as one")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    const all = Array.from({ length: 30 }, () => database.rows<{ one: number }>("read", "select 1 as one"));
    await transaction.rows("read", "select 1 as one");
    return { all };
  });
  expect(await Promise.all(waiting.all)).toHaveLength(30);
  expect(proxy.attempts).toBe(2);
});

test("while PostgreSQL refuses connections, requests fail at once without a further attempt", async () => {
  const proxy = await startSlowProxy(test_.url);
  proxy.refuse();
  const database = open(proxy.url, { acquireTimeoutMs: 30_000 });
  stopClock();
  await expect(database.rows("read", "select 1")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  await expect(database.rows("read", "select 1")).rejects.toMatchObject({
    cause: { message: "PostgreSQL refuses connections" },
  });
  expect(proxy.attempts).toBe(1);
});

test("a request is rejected at once if 200 per connection already wait", async () => {
  const proxy = await startSlowProxy(test_.url);
  const database = open(proxy.url, { acquireTimeoutMs: 30_000, connectionsMax: 1 });
  // The first request waits for the connection that it opens, 200 further ones wait for that connection.
  const all = Array.from({ length: 201 }, () => database.rows("read", "select 1"));
  await expect(database.rows("read", "select 1")).rejects.toMatchObject({
    cause: { message: "200 requests already wait for a connection" },
  });
  proxy.accept();
  await Promise.all(all);
});

test("closing waits for connections in use, aborts attempts, and rejects waiting and later requests", async () => {
  const proxy = await startSlowProxy(test_.url);
  proxy.accept();
  const database = open(proxy.url, { acquireTimeoutMs: 30_000, connectionsMax: 2 });
  const work = Promise.withResolvers<void>();
  onTestFinished(() => work.resolve());
  const attempts = Promise.withResolvers<void>();
  const inUse = database.transaction(async (transaction) => {
    attempts.resolve();
    await work.promise;
    return transaction.rows<{ one: number }>("read", "select 1 as one");
  });
  await attempts.promise;
  proxy.hold();
  const waiting = [database.rows("read", "select 1"), database.rows("read", "select 1")];
  await proxy.waitForAttempts(1);
  const order: string[] = [];
  const closed = database.close().then(() => order.push("closed"));
  await Promise.all(
    [...waiting, database.rows("read", "select 1")].map((one) =>
      expect(one).rejects.toMatchObject({ cause: { message: "The pool is closed" } }),
    ),
  );
  await expect.poll(() => proxy.held()).toBe(0);
  order.push("released");
  work.resolve();
  expect(await inUse).toEqual([{ one: 1 }]);
  await closed;
  expect(order).toEqual(["released", "closed"]);
});

test("an invalid statement is a bug, not SERVICE_UNAVAILABLE, and does not close its connection", async () => {
  const proxy = await startSlowProxy(test_.url);
  proxy.accept();
  const database = open(proxy.url, {});
  for (let tries = 0; tries < 3; tries++) {
    await expect(database.rows("wrong", "select nothing from nowhere")).rejects.toMatchObject({ code: "42P01" });
  }
  expect([proxy.attempts, await database.isReachable()]).toEqual([1, true]);
});

/** A TCP proxy in front of PostgreSQL that holds, accepts or closes connections. */
async function startSlowProxy(url: string) {
  const { hostname, port } = new URL(url);
  const waiting = new Set<Socket>();
  const open = new Set<Socket>();
  let mode: "hold" | "accept" | "close" = "hold";
  let arrived = Promise.withResolvers<void>();
  const server = createServer((client) => {
    proxy.attempts++;
    track(client);
    waiting.add(client);
    client.once("close", () => waiting.delete(client));
    if (mode === "accept") forward(client);
    if (mode === "close") client.destroy();
    arrived.resolve();
    arrived = Promise.withResolvers();
  });
  const proxy = {
    url: "",
    attempts: 0,
    held: () => waiting.size,
    hold() {
      mode = "hold";
    },
    accept() {
      mode = "accept";
      for (const client of waiting) forward(client);
    },
    /** Open connections remain. */
    rejectNew() {
      mode = "close";
    },
    refuse() {
      mode = "close";
      for (const socket of open) socket.destroy();
    },
    async waitForAttempts(count: number) {
      while (waiting.size < count) await arrived.promise;
    },
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  onTestFinished(() => proxy.refuse());
  const proxyUrl = new URL(url);
  proxyUrl.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.url = proxyUrl.href;
  return proxy;

  function forward(client: Socket): void {
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

/** Stops the clock, so that the test runs within the pause after a refused connection, however slow the machine is. */
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
