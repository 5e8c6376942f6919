import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { route, startProxy, startStub } from "./testing.ts";

test("while a service is silent, equal reads, which share one request to it, are 503 with Retry-After soon", async () => {
  let isFrozen = true;
  const stub = await startStub((_request, response) => {
    if (!isFrozen) response.setHeader("Cache-Control", "public, max-age=60").end('{"ok":true}');
  });
  const proxy = await startProxy(stub, { routes: [route("getThing", "GET", "/things/:id", { cache: "public" })] });
  const read = async () => {
    const response = await fetch(`${proxy.url}/v1/things/1`);
    await response.arrayBuffer();
    return [response.status, response.headers.get("retry-after")];
  };
  const isOpen = () => proxy.observed.some((each) => each.kind === "breaker-changed" && each.isOpen);
  const waiting: Promise<unknown>[] = [];
  while (!isOpen() && waiting.length < 200) {
    waiting.push(read());
    await sleep(50);
  }
  expect(new Set(stub.received.filter(({ url }) => url.includes("things")).map(({ url }) => url)).size).toBe(1);
  expect(await read()).toEqual([503, "1"]);
  for (const outcome of await Promise.all(waiting)) expect(outcome).toEqual([503, "1"]);
  isFrozen = false;
  await expect.poll(read).toEqual([200, null]);
});
