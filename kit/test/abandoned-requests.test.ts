// A caller that leaves, or whose deadline passes, frees the connection that its read holds; writes are never left half-done.
import { once } from "node:events";
import { createServer, type IncomingMessage, request as sendRequest } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { deadlineHeader } from "../src/http/deadline.ts";
import { batchLookups } from "../src/lists/batched-lookup.ts";
import { createDatabase, type PooledDatabase } from "../src/postgres/postgres.ts";
import { silentLog } from "../src/process/log.ts";
import type { RestRequest, RestResponse } from "../src/rest/rest-endpoint.ts";
import type { RouteDeclaration } from "../src/rest/routes.ts";
import { createServiceApp } from "../src/service/service.ts";
import { createTestDatabase, type TestDatabase } from "../src/testing/database.ts";
import { quantile } from "./upstream/simulation.ts";

let test_: TestDatabase;
beforeAll(async () => {
  test_ = await createTestDatabase(inject("postgresUrl"), fileURLToPath(new URL("migrations", import.meta.url)));
});
afterAll(() => test_.close());

test.each(["REST", "GraphQL"])("sixty abandoned reads of %s leave all connections free", async (endpoint) => {
  const service = await startService({
    handle: ({ database }) => database.rows("sleep", "select pg_sleep(60)"),
  });
  const send = endpoint === "REST" ? service.read : service.query;
  const clients = Array.from({ length: 60 }, () => send());
  await expect.poll(() => service.runningStatements()).toBe(10);
  for (const client of clients) client.leave();
  await expect.poll(() => service.runningStatements(), { timeout: 5_000 }).toBe(0);
  await expect.poll(() => service.database.readPool()).toEqual({ total: 10, idle: 10, waiting: 0 });
});

test("at its deadline a read is cancelled, and its caller gets 503", async () => {
  const service = await startService({
    handle: ({ database }) => database.rows("sleep", "select pg_sleep(60)"),
  });
  expect(await service.read({ [deadlineHeader]: "150" }).response).toMatchObject({ status: 503, retryAfter: "1" });
  await expect.poll(() => service.runningStatements()).toBe(0);
  await expect.poll(() => service.database.readPool()).toEqual({ total: 1, idle: 1, waiting: 0 });
});

test("a caller that leaves soon after its deadline is cancelled once: a second cancel request could end another caller's statement", async () => {
  const proxy = await startDelayingProxy(test_.url, () => 50);
  const service = await startService({
    url: proxy.url,
    handle: ({ database }) => database.rows("sleep", "select pg_sleep(60)"),
  });
  const client = service.read({ [deadlineHeader]: "150" });
  await expect.poll(() => proxy.cancelRequests).toBe(1);
  client.leave();
  await expect.poll(() => service.runningStatements()).toBe(0);
  await expect.poll(() => service.database.readPool()).toEqual({ total: 1, idle: 1, waiting: 0 });
  expect(proxy.cancelRequests).toBe(1);
});

test("a request whose deadline has passed at its arrival executes no statement", async () => {
  const service = await startService({
    handle: ({ database }) => database.rows("read", "select 1"),
  });
  expect(await service.read({ [deadlineHeader]: "0" }).response).toMatchObject({ status: 503, retryAfter: "1" });
  expect(await service.query({ [deadlineHeader]: "0" }).response).toMatchObject({ status: 503, retryAfter: "1" });
  expect(service.database.readPool().total).toBe(0);
});

test("a read of more than 16 MiB is cancelled, in one statement or several, and its connection serves the next one", async () => {
  const megabytes = (count: number) => `select repeat('x', 1000000), pg_sleep(0.002) from generate_series(1, ${count})`;
  const service = await startService({
    async handle({ database, id }) {
      if (id === "1") return (await database.rows("endless", megabytes(1_000_000))).length;
      for (let i = 0; i < Number(id); i++) await database.rows(`part-${i}`, megabytes(7));
      return "read";
    },
  });
  const tooMuch = { status: 413, text: expect.stringContaining("more than 16 MiB") };
  expect(await service.read({}, "1").response).toMatchObject(tooMuch);
  expect(await service.read({}, "4").response).toMatchObject(tooMuch);
  expect(await service.read({}, "2").response).toMatchObject({ status: 200 });
  await expect.poll(() => service.database.readPool()).toEqual({ total: 1, idle: 1, waiting: 0 });
});

test("a transaction whose caller leaves between two statements is rolled back", async () => {
  const left = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const service = await startService({
    handle: ({ database }) => {
      const written = database.transaction(async (transaction) => {
        await transaction.write("insert", "insert into things values (100, 1) returning id");
        arrived.resolve();
        await left.promise;
      });
      written.then(ended.resolve, ended.resolve);
      return written;
    },
  });
  const client = service.write();
  await arrived.promise;
  client.leave();
  await client.closed();
  left.resolve();
  expect(await ended.promise).toMatchObject({ code: "REQUEST_TIMEOUT" });
  expect(await test_.database.rows("find", "select id from things where id = 100")).toEqual([]);
});

test("a single statement that writes is completed, and so are the reads after it", async () => {
  const ended = Promise.withResolvers<unknown>();
  const service = await startService({
    handle: ({ database }) => {
      const written = database
        .write("insert", "insert into things select 101, 1 from pg_sleep(0.5) returning id")
        .then(() => database.rows("find", "select id from things, pg_sleep(0.1) where id = 101"));
      written.then(ended.resolve, ended.resolve);
      return written;
    },
  });
  const client = service.write();
  await expect.poll(() => service.runningStatements()).toBe(1);
  client.leave();
  expect(await ended.promise).toEqual([{ id: "101" }]);
});

test("a statement for several requests is cancelled when the last of their callers has left", async () => {
  const holder = await lockRow();
  let lookUp: (id: string) => Promise<unknown> = () => Promise.resolve();
  const service = await startService({
    open(database) {
      lookUp = batchLookups((ids) =>
        database.rows<{ id: string }>(
          "wait",
          "select i::text as id from unnest($1::int[]) i, pg_advisory_lock_shared(7)",
          [ids],
        ),
      );
    },
    // Both lookups are of one turn of the event loop.
    handle: async ({ id }) => {
      await service.bothArrived();
      return lookUp(id);
    },
  });
  const [ada, grace] = [service.read({}, "1"), service.read({}, "2")];
  await expect.poll(() => service.runningStatements()).toBe(1);
  ada.leave();
  await ada.closed();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await service.runningStatements()).toBe(1);
  grace.leave();
  await expect.poll(() => service.runningStatements()).toBe(0);
  await holder.release();
});

/** The nightly run has 100,000 requests. */
const requestCount = Number(process.env["ABANDONED_REQUESTS"] ?? 2_000);
/** 99 of 100 abandoned statements; on a machine that does nothing else, so only in the nightly run. */
const endedMsMax = process.env["ABANDONED_REQUESTS"] ? 250 : Infinity;

/** The proxy delays cancel requests, so that some arrive when their statement has ended. */
test("no request fails because another one was cancelled, no acknowledged write is lost, no connection leaks", async () => {
  const proxy = await startDelayingProxy(test_.url);
  const service = await startService({
    url: proxy.url,
    connectionsMax: 6,
    handle: async ({ database, id, isWrite }) => {
      if (isWrite) return database.write("insert-one", "insert into things values ($1, 1) returning id", [id]);
      // Half of the reads that are abandoned would take a minute.
      const seconds = [0, 4].includes((Number(id) - 1_000) % 6) ? 60 : Math.random() * 0.003;
      const read = database.rows<{ id: string }>("echo", "select $1::text as id, pg_sleep($2)", [id, seconds]);
      const rows = await read.finally(() => endedAtMs.set(id, performance.now()));
      return rows.map((row) => row.id);
    },
  });
  const acknowledged: string[] = [];
  const abandonedAtMs = new Map<string, number>();
  const endedAtMs = new Map<string, number>();
  const outcomes = { served: 0, left: 0, late: 0 };
  await inParallel(24, requestCount, async (i) => {
    const id = String(1_000 + i);
    const isWrite = i % 10 === 0;
    const leavesAfterMs = i % 3 === 0 ? Math.random() * 16 : undefined;
    // Of those that leave, half do so some milliseconds after their deadline, as the gateway and the REST proxy do.
    const deadlineMs =
      i % 6 === 3 ? Math.max(1, (leavesAfterMs ?? 0) - 5) : i % 3 === 1 ? 10 * Math.random() : undefined;
    const deadline = deadlineMs === undefined ? undefined : String(Math.ceil(deadlineMs));
    const headers = deadline === undefined ? {} : { [deadlineHeader]: deadline };
    const client = isWrite ? service.write(headers, id) : service.read(headers, id);
    if (deadline !== undefined) abandonedAtMs.set(id, performance.now() + Number(deadline));
    const leave = () => {
      abandonedAtMs.set(id, performance.now());
      client.leave();
    };
    if (leavesAfterMs !== undefined) setTimeout(leave, leavesAfterMs);
    const response = await client.response;
    if (response === undefined) {
      expect(leavesAfterMs).toBeDefined();
      outcomes.left++;
    } else if (response.status === 503) {
      expect([deadline, response.text]).toEqual([expect.any(String), expect.stringContaining("deadline")]);
      outcomes.late++;
    } else {
      expect([response.status, response.text]).toEqual([200, expect.stringContaining(`"${id}"`)]);
      if (isWrite) acknowledged.push(id);
      outcomes.served++;
    }
  });
  expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(requestCount / 20);
  expect(proxy.cancelRequests).toBeGreaterThan(requestCount / 20);
  expect(outcomes.left + outcomes.late).toBeGreaterThan(requestCount / 10);
  const stored = await test_.database.rows<{ id: string }>("all", "select id from things where id >= 1000");
  expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged));
  await expect.poll(() => service.runningStatements()).toBe(0);
  await expect.poll(() => service.database.readPool()).toEqual({ total: 6, idle: 6, waiting: 0 });
  const endedMs = [...endedAtMs].map(([id, atMs]) => atMs - (abandonedAtMs.get(id) ?? NaN)).filter((ms) => ms > 0);
  expect(endedMs.length).toBeGreaterThan(requestCount / 20);
  expect(quantile(endedMs, 0.99)).toBeLessThanOrEqual(endedMsMax);
});

interface HandledRequest {
  readonly database: PooledDatabase;
  readonly id: string;
  readonly isWrite: boolean;
}

interface ServiceOptions {
  readonly url?: string;
  readonly connectionsMax?: number;
  open?(database: PooledDatabase): void;
  handle(request: HandledRequest): Promise<unknown>;
}

const routes = [
  { id: "read", method: "GET", path: "/things/:id", versions: [1], cache: "public", summary: "Reads" },
  { id: "write", method: "POST", path: "/things/:id", versions: [1], cache: "none", summary: "Writes" },
] as const satisfies readonly RouteDeclaration[];

async function startService({ url = test_.url, connectionsMax = 10, open, handle }: ServiceOptions) {
  const applicationName = `abandoned-${Math.random()}`;
  const database = createDatabase({
    ...{ url, applicationName, connectionsMax },
    ...{ statementTimeoutMs: 60_000, lockTimeoutMs: 60_000, acquireTimeoutMs: 60_000 },
  });
  open?.(database);
  let arrivedCount = 0;
  const both = Promise.withResolvers<void>();
  const respond = async ({ params }: RestRequest, isWrite: boolean): Promise<RestResponse> => {
    if (++arrivedCount === 2) both.resolve();
    return { status: 200, body: await handle({ database, id: params["id"] ?? "", isWrite }) };
  };
  const app = await createServiceApp(
    {
      name: "things",
      profile: "development",
      authenticate: async () => ({ kind: "anonymous" }),
      database,
      log: silentLog,
    },
    {
      schema: new URL("things.graphql", import.meta.url),
      resolvers: { Query: { fine: () => handle({ database, id: "", isWrite: false }) } },
      createContext: () => ({}),
      routes,
      caching: { freshSeconds: 10, staleIfErrorSeconds: 60, fieldGroups: {}, groupsOfChange: () => undefined },
      handlers: { 1: { read: (request) => respond(request, false), write: (request) => respond(request, true) } },
    },
  );
  const closings: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    closings.push(once(response, "close"));
    app.handler(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await app.stop();
    await database.close();
  });

  function send(method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) {
    const sent = sendRequest({
      port,
      method,
      path,
      headers: { ...headers, "content-type": "application/json" },
      agent: false,
    });
    const response = once(sent, "response").then(async ([message]: IncomingMessage[]) => {
      const chunks: Buffer[] = [];
      for await (const chunk of message as IncomingMessage) chunks.push(chunk as Buffer);
      return {
        status: message?.statusCode,
        retryAfter: message?.headers["retry-after"],
        text: Buffer.concat(chunks).toString(),
      };
    });
    sent.end(body);
    return {
      response: response.catch(() => undefined),
      leave: () => void sent.destroy(),
      /** When the service has noticed that its client has left. */
      closed: () => Promise.race(closings),
    };
  }

  return {
    database,
    bothArrived: () => both.promise,
    read: (headers = {}, id = "1") => send("GET", `/rest/v1/things/${id}`, headers),
    write: (headers = {}, id = "1") => send("POST", `/rest/v1/things/${id}`, headers),
    query: (headers = {}) => send("POST", "/graphql", headers, JSON.stringify({ query: "{ fine }" })),
    async runningStatements(): Promise<number> {
      // Not the statements that open a connection.
      const text = `select count(*)::int as count from pg_stat_activity
        where application_name = $1 and state = 'active' and query ~ 'pg_(sleep|advisory)'`;
      const [row] = await test_.database.rows<{ count: number }>("activity", text, [applicationName]);
      return row?.count ?? 0;
    },
  };
}

/** Holds the advisory lock 7. */
async function lockRow() {
  const released = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const done = test_.database.transaction(async (transaction) => {
    await transaction.rows("lock", "select pg_advisory_xact_lock(7)");
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  return {
    release() {
      released.resolve();
      return done;
    },
  };
}

const cancelRequestCode = 80_877_102;

async function startDelayingProxy(url: string, delayMs = () => Math.random() * 5) {
  const { hostname, port } = new URL(url);
  const proxy = { url: "", cancelRequests: 0 };
  const server = createTcpServer((client) => {
    client.once("data", (first: Buffer) => {
      const isCancelRequest = first.readInt32BE(4) === cancelRequestCode;
      if (isCancelRequest) proxy.cancelRequests++;
      client.pause();
      const forward = () => {
        const upstream = connect(Number(port), hostname);
        upstream.write(first);
        client.pipe(upstream).pipe(client);
        for (const socket of [client, upstream]) socket.on("error", () => {});
        client.once("close", () => upstream.destroy());
        upstream.once("close", () => client.destroy());
      };
      setTimeout(forward, isCancelRequest ? delayMs() : 0);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const proxyUrl = new URL(url);
  proxyUrl.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(proxy, { url: proxyUrl.href });
}

async function inParallel(width: number, count: number, run: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: width }, work));
}
