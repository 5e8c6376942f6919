import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createHttpClient } from "./http-client.ts";
import { startLoad } from "./open-loop.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

test("a connection is reused for the next request, and closed after `Connection: close`", async () => {
  const ports: (number | undefined)[] = [];
  const client = await startClient((request, response) => {
    ports.push(request.socket.remotePort);
    if (ports.length === 2) response.setHeader("Connection", "close");
    response.end("{}");
  });
  for (let i = 0; i < 3; i++) await client.send({ method: "POST", path: "/", body: "é" });
  expect(ports[1]).toBe(ports[0]);
  expect(ports[2]).not.toBe(ports[0]);
});

test("a request that fails on a reused connection is not retried", async () => {
  let count = 0;
  const client = await startClient((request, response) => {
    if (++count === 1) response.end("{}");
    else request.socket.destroy();
  });
  await client.send({ method: "GET", path: "/" });
  await expect(client.send({ method: "GET", path: "/" })).rejects.toThrow("socket hang up");
  expect(count).toBe(2);
});

test("an incomplete response is rejected after the timeout", async () => {
  const client = await startClient((_, response) => void response.writeHead(200).write("{"), 50);
  await expect(client.send({ method: "GET", path: "/" })).rejects.toThrow(/no response in 50 ms|aborted/);
});

test("a stall delays every request that was due during it", async () => {
  const stall = Promise.withResolvers<undefined>();
  let sent = 0;
  const fiftySent = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 1_000,
    send: () => {
      if (++sent === 50) fiftySent.resolve();
      return stall.promise;
    },
  });
  await fiftySent.promise;
  stall.resolve(undefined);
  const { count, latenciesMs } = await load.stop();
  expect(count).toBeGreaterThanOrEqual(50);
  expect(latenciesMs.at(-1)).toBeGreaterThanOrEqual(45);
});

test.each([0, -1, Number.NaN])(
  "a load of %s requests per second is an error instead of an endless loop",
  (perSecond) => {
    expect(() => startLoad({ perSecond, send: () => Promise.resolve(undefined) })).toThrow("positive rate");
  },
);

test("failures are counted by their message", async () => {
  const enough = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 1_000,
    send: (count) => {
      if (count === 4) enough.resolve();
      return count % 2 === 0 ? Promise.reject(new Error("closed")) : Promise.resolve("null");
    },
  });
  await enough.promise;
  const { failures } = await load.stop();
  expect([...failures.keys()].toSorted()).toEqual(["Error: closed", "null"]);
});

test("requests that were sent before a reset are not counted, even if they end later", async () => {
  const first = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 100,
    send: (count) => (started.resolve(), count === 1 ? first.promise : Promise.resolve(undefined)),
  });
  await started.promise;
  load.reset();
  first.resolve("late");
  expect((await load.stop()).failures.size).toBe(0);
});

test("the number of failure kinds is limited, the others are counted as one kind", async () => {
  const enough = Promise.withResolvers<void>();
  const load = startLoad({
    perSecond: 5_000,
    send: async (count) => (count === 150 ? (enough.resolve(), "last") : `failure ${count}`),
  });
  await enough.promise;
  const { failures } = await load.stop();
  expect([failures.size, (failures.get("other failures") ?? 0) >= 50]).toEqual([101, true]);
});

async function startClient(listener: RequestListener, timeoutMs?: number) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = createHttpClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, timeoutMs);
  cleanups.push(
    () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
    () => client.close(),
  );
  return client;
}
