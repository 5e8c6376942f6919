import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startBalancer } from "./balancer.ts";
import { createHttpClient } from "./http-client.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

test("connections go to one instance after the other, and what is connected stays", async () => {
  const [one, two] = [await startInstance("one"), await startInstance("two")];
  const { url } = await startBefore([one.url, two.url]);
  const [first, second] = [startClient(url), startClient(url)];
  const answers = [await first(), await second(), await first(), await second()];
  expect(answers.toSorted()).toEqual(["one", "one", "two", "two"]);
  expect([answers[2], answers[3]]).toEqual([answers[0], answers[1]]);
});

test("an instance that is not ready gets nothing new, and one that is gone costs nobody anything", async () => {
  const [leaving, staying] = [await startInstance("leaving"), await startInstance("staying")];
  const balancer = await startBefore([leaving.url, staying.url]);
  leaving.isReady = false;
  await expect.poll(() => balancer.isIn(leaving.url)).toBe(false);
  const ask = () => startClient(balancer.url)();
  expect(await Promise.all([ask(), ask()])).toEqual(["staying", "staying"]);
  leaving.isReady = true;
  await expect.poll(() => balancer.isIn(leaving.url)).toBe(true);
  await leaving.stop();
  expect(await Promise.all([ask(), ask()])).toEqual(["staying", "staying"]);
});

test("what an instance breaks is broken for its client", async () => {
  const instance = await startInstance("one", (request) => void request.socket.resetAndDestroy());
  const { url } = await startBefore([instance.url]);
  await expect(startClient(url)()).rejects.toThrow(/ECONNRESET|hang up/);
});

async function startBefore(urls: readonly string[]) {
  const balancer = await startBalancer(urls, 5);
  ends.push(() => balancer.stop());
  await expect.poll(() => urls.every((url) => balancer.isIn(url))).toBe(true);
  return balancer;
}

async function startInstance(name: string, answer: RequestListener = (_, response) => void response.end(name)) {
  const server: Server = createServer((request, response) => {
    if (request.url !== "/health/ready") return answer(request, response);
    response.writeHead(instance.isReady ? 200 : 503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise<unknown>((resolve) => (server.close(resolve), server.closeAllConnections()));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const instance = { url, isReady: true, stop };
  ends.push(stop);
  return instance;
}

/** With a connection of its own. */
function startClient(url: string): () => Promise<string> {
  const client = createHttpClient(url);
  ends.push(() => client.close());
  return async () => (await client.send({ method: "GET", path: "/" })).text;
}
