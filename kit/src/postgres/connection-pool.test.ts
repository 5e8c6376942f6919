import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ConnectionPool, NoConnection } from "./connection-pool.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a connection that comes after its waiter gave up is there for the next", async () => {
  const { pool, server } = setUp();
  const first = expect(pool.acquire()).rejects.toBeInstanceOf(NoConnection);
  await vi.advanceTimersByTimeAsync(1_000);
  await first;
  const second = pool.acquire();
  await server.accept();
  expect([await second, server.asked]).toEqual([{ id: 1 }, 1]);
});

test("two connections are made at once, however many are waited for", async () => {
  const { pool, server } = setUp({ connectionsMax: 10 });
  const all = Array.from({ length: 30 }, async () => {
    const connection = await pool.acquire();
    await Promise.resolve();
    pool.release(connection);
  });
  expect(server.asked).toBe(2);
  await server.accept();
  await Promise.all(all);
  expect(server.asked).toBeLessThan(5);
});

test("all who wait hear a refusal at once, and until its time is over nobody asks the server again", async () => {
  const { pool, server } = setUp();
  const waiting = Array.from({ length: 30 }, () => expect(pool.acquire()).rejects.toThrow());
  await server.refuse();
  await server.refuse();
  await Promise.all(waiting);
  const asked = server.asked;
  await expect(pool.acquire()).rejects.toMatchObject({ cause: new Error("refused") });
  expect(server.asked).toBe(asked);
});

test("a server that has refused is asked by one at a time, with growing waits, until it takes one", async () => {
  const { pool, server } = setUp();
  const waits: number[] = [];
  for (let tries = 0; tries < 7; tries++) {
    const waiting = [pool.acquire(), pool.acquire()].map((one) => expect(one).rejects.toThrow());
    expect(server.pending).toBe(tries === 0 ? 2 : 1);
    while (server.pending > 0) await server.refuse();
    await Promise.all(waiting);
    const sinceMs = performance.now();
    while (await isRefused(pool)) await vi.advanceTimersByTimeAsync(5);
    waits.push(performance.now() - sinceMs);
    while (server.pending > 0) await server.refuse();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect([waits[0], waits.at(-1)]).toEqual([75, 750]);
  const back = pool.acquire();
  await server.accept();
  expect(await back).toEqual({ id: 1 });
  void pool.acquire().catch(() => {});
  void pool.acquire().catch(() => {});
  expect(server.pending).toBe(2);
});

test("who waits for a connection in use gets a new one once the server may be asked again", async () => {
  const { pool, server } = setUp();
  const used = pool.acquire();
  await server.accept();
  await used;
  const waiting = pool.acquire();
  await server.refuse();
  expect(server.pending).toBe(0);
  await vi.advanceTimersByTimeAsync(100);
  await server.accept();
  expect(await waiting).toEqual({ id: 2 });
});

test("there are never more connections than allowed, and one that breaks makes room", async () => {
  const { pool, server } = setUp({ connectionsMax: 1 });
  const first = pool.acquire();
  await server.accept();
  const second = pool.acquire();
  expect(server.pending).toBe(0);
  expect(pool.discard(await first)).toBe(true);
  await server.accept();
  expect(await second).toEqual({ id: 2 });
  expect([pool.discard({ id: 1 }), server.closed]).toEqual([false, [1]]);
});

test("a connection is used by one at a time, the one used last first, and nobody uses it for ten seconds without its being closed", async () => {
  const { pool, server } = setUp();
  const both = [pool.acquire(), pool.acquire()];
  await server.accept();
  await server.accept();
  const [one, two] = await Promise.all(both);
  pool.release(one as Connection);
  pool.release(two as Connection);
  expect(pool.readState()).toEqual({ total: 2, idle: 2, waiting: 0 });
  for (let seconds = 0; seconds < 20; seconds++) {
    const again = await pool.acquire();
    expect(again).toBe(two);
    await vi.advanceTimersByTimeAsync(1_000);
    pool.release(again);
  }
  expect(server.closed).toEqual([1]);
});

test("whoever comes when too many wait is told so at once", async () => {
  const { pool } = setUp({ connectionsMax: 1 });
  for (let waiting = 0; waiting < 200; waiting++) void pool.acquire().catch(() => {});
  await expect(pool.acquire()).rejects.toThrow("200 wait for a connection already");
});

test("closing waits for what is in use, ends what is begun, and refuses whoever waits", async () => {
  const { pool, server } = setUp();
  const used = pool.acquire();
  await server.accept();
  const waiting = expect(pool.acquire()).rejects.toThrow("The pool is closed");
  const order: string[] = [];
  const closed = pool.close().then(() => order.push("closed"));
  await waiting;
  expect(server.givenUp).toBe(1);
  order.push("released");
  pool.release(await used);
  await closed;
  expect([order, server.closed]).toEqual([["released", "closed"], [1]]);
  await expect(pool.acquire()).rejects.toThrow("The pool is closed");
});

interface Connection {
  readonly id: number;
}

/** A pool over a server that takes and refuses connections when the test says so. */
function setUp({ connectionsMax = 3 } = {}) {
  const pending: PromiseWithResolvers<Connection>[] = [];
  const next = () => pending.shift() ?? Promise.withResolvers<Connection>();
  const server = {
    asked: 0,
    givenUp: 0,
    closed: [] as number[],
    get pending() {
      return pending.length;
    },
    async accept() {
      next().resolve({ id: ++accepted });
      await vi.advanceTimersByTimeAsync(0);
    },
    async refuse() {
      next().reject(new Error("refused"));
      await vi.advanceTimersByTimeAsync(0);
    },
  };
  let accepted = 0;
  const pool = new ConnectionPool<Connection>({
    open(signal) {
      server.asked++;
      const opening = Promise.withResolvers<Connection>();
      pending.push(opening);
      signal.addEventListener("abort", () => {
        if (pending.includes(opening)) server.givenUp++;
        opening.reject(new Error("given up"));
      });
      return opening.promise;
    },
    close: ({ id }) => void server.closed.push(id),
    connectionsMax,
    acquireTimeoutMs: 1_000,
    random: () => 0.5,
  });
  return { pool, server };
}

/** Whether somebody who comes now is refused without the server being asked. */
async function isRefused(pool: ConnectionPool<Connection>): Promise<boolean> {
  const refused = pool.acquire().then(
    () => false,
    () => true,
  );
  return Promise.race([refused, vi.advanceTimersByTimeAsync(0).then(() => false)]);
}
