import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { route, type Running, startProxy, startStub } from "./testing.ts";

const routes = [
  route("getThing", "GET", "/things/:id", { cache: "public" }),
  route("listThings", "GET", "/things", { cache: "public" }),
  route("createThing", "POST", "/things", { idempotencyKey: { optional: [1], required: [] } }),
];

/** Repeats a read of a silent service until the breaker opens. */
async function readUntilOpen<T>({ observed }: Running, read: (count: number) => Promise<T>): Promise<Promise<T>[]> {
  const isOpen = () => observed.some((each) => each.kind === "breaker-changed" && each.isOpen);
  const waiting: Promise<T>[] = [];
  while (!isOpen() && waiting.length < 200) {
    waiting.push(read(waiting.length));
    await sleep(50);
  }
  return waiting;
}

test("while a service is silent, equal reads, which share one request to it, are 503 with Retry-After soon", async () => {
  let isFrozen = true;
  const stub = await startStub((_request, response) => {
    if (!isFrozen) response.setHeader("Cache-Control", "public, max-age=60").end('{"ok":true}');
  });
  const proxy = await startProxy(stub, { routes });
  const read = async () => {
    const response = await fetch(`${proxy.url}/v1/things/1`);
    await response.arrayBuffer();
    return [response.status, response.headers.get("retry-after")];
  };
  const waiting = await readUntilOpen(proxy, read);
  expect(new Set(stub.received.filter(({ url }) => url.includes("things")).map(({ url }) => url)).size).toBe(1);
  expect(await read()).toEqual([503, "1"]);
  for (const outcome of await Promise.all(waiting)) expect(outcome).toEqual([503, "1"]);
  isFrozen = false;
  await expect.poll(read).toEqual([200, null]);
});

test("a write with a key that the breaker ended was sent: it invalidates", async () => {
  const things = ["one"];
  let isFrozen = false;
  const stub = await startStub(({ method }, response) => {
    if (method === "POST") things.push("two");
    if (!isFrozen) response.setHeader("Cache-Control", "public, max-age=60").end(JSON.stringify(things));
  });
  const proxy = await startProxy(stub, { routes, upstreamTimeoutMs: 20_000 });
  const read = (path: string) => fetch(`${proxy.url}/v1/things${path}`);
  await read("");
  isFrozen = true;
  const headers = { "content-type": "application/json", "idempotency-key": "k-1" };
  const writing = fetch(`${proxy.url}/v1/things`, { method: "POST", body: "{}", headers });
  await Promise.all(await readUntilOpen(proxy, (count) => read(`/${count}`)));
  expect((await writing).status).toBe(503);
  isFrozen = false;
  await expect.poll(async () => (await read("/last")).status).toBe(200);
  expect(await (await read("")).json()).toContain("two");
});
