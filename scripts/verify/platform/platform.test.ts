import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createHttpClient } from "../traffic/http-client.ts";
import { startBalancer } from "./balancer.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

test("connections go to the instances in turn, and a connection remains with its instance", async () => {
  const [one, two] = [await startInstance("one"), await startInstance("two")];
  const { url } = await startBefore([one.url, two.url]);
  const [first, second] = [startClient(url), startClient(url)];
  const bodies = [await first(), await second(), await first(), await second()];
  expect(bodies.toSorted()).toEqual(["one", "one", "two", "two"]);
  expect([bodies[2], bodies[3]]).toEqual([bodies[0], bodies[1]]);
});

test("an instance that is not ready gets no new connections, and a stopped one fails no request", async () => {
  const [draining, healthy] = [await startInstance("draining"), await startInstance("healthy")];
  const balancer = await startBefore([draining.url, healthy.url]);
  draining.isReady = false;
  const send = () => startClient(balancer.url)();
  await expect.poll(() => Promise.all([send(), send()])).toEqual(["healthy", "healthy"]);
  draining.isReady = true;
  await balancer.untilInRotation(draining.url);
  await draining.stop();
  expect(await Promise.all([send(), send()])).toEqual(["healthy", "healthy"]);
});

test("a connection that an instance resets is reset for its client", async () => {
  const instance = await startInstance("one", (request) => void request.socket.resetAndDestroy());
  const { url } = await startBefore([instance.url]);
  await expect(startClient(url)()).rejects.toThrow(/ECONNRESET|hang up/);
});

async function startBefore(urls: readonly string[]) {
  const balancer = await startBalancer(urls, 5);
  cleanups.push(() => balancer.stop());
  await Promise.all(urls.map((url) => balancer.untilInRotation(url)));
  return balancer;
}

async function startInstance(name: string, respond: RequestListener = (_, response) => void response.end(name)) {
  const server: Server = createServer((request, response) => {
    if (request.url !== "/health/ready") return respond(request, response);
    response.writeHead(instance.isReady ? 200 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise<unknown>((resolve) => (server.close(resolve), server.closeAllConnections()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const instance = { url, isReady: true, stop };
  cleanups.push(stop);
  return instance;
}

/** A client with one connection. */
function startClient(url: string): () => Promise<string> {
  const client = createHttpClient(url);
  cleanups.push(() => client.close());
  return async () => (await client.send({ method: "GET", path: "/" })).text;
}
