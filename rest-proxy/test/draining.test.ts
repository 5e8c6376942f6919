import { expect, test } from "vitest";
import { route, openConnection, startProxy, startStub } from "./testing.ts";

const cachedPath = "/v1/things/1";
const uncachedPath = "/v1/things/1/parts";

test("a proxy that is drained under load fails no request, and closes each connection with a response", async () => {
  const stub = await startStub(({ url }, response) => {
    response.setHeader("Cache-Control", url.endsWith("/parts") ? "private, no-cache" : "public, max-age=60");
    setTimeout(() => response.end('{"ok":true}'), 5);
  });
  const proxy = await startProxy(stub, { drainDelayMs: 300 });
  const clients = Array.from({ length: 12 }, (_, index) =>
    sendUntilClosed(`${proxy.url}${index % 2 ? cachedPath : uncachedPath}`),
  );
  await expect.poll(() => stub.received.length).toBeGreaterThan(50);
  await proxy.drain();
  // Each request got a response.
  const responseCounts = await Promise.all(clients);
  expect(Math.min(...responseCounts)).toBeGreaterThan(0);
});

test("draining waits for a client that is still reading a cached response", async () => {
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "public, max-age=60").end("y".repeat(20_000_000));
  });
  const proxy = await startProxy(stub, {
    routes: [route("getThing", "GET", "/things/:id", { cache: "public" })],
    cacheLimits: { bytesMax: 5e7, entryBytesMax: 5e7, entriesMax: 9, variantsMax: 9, backgroundMax: 9 },
  });
  expect((await (await fetch(`${proxy.url}${cachedPath}`)).text()).length).toBe(20_000_000);
  const client = await openConnection(proxy.port, `GET ${cachedPath} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await client.until(/y$/);
  client.socket.pause();
  const drained = proxy.drain();
  setTimeout(() => client.socket.resume(), 100);
  const [head = "", body = ""] = (await client.closed()).split("\r\n\r\n");
  expect([head.includes("Cache-Status: tributary; hit"), body.length]).toEqual([true, 20_000_000]);
  await drained;
  expect(stub.received).toHaveLength(1);
});

/** A client that sends requests until a response closes its connection. Rejects without a response. */
async function sendUntilClosed(url: string): Promise<number> {
  for (let responses = 1; ; responses++) {
    const response = await fetch(url);
    const body = await response.json();
    expect([response.status, body]).toEqual([200, { ok: true }]);
    if (response.headers.get("connection") === "close") return responses;
  }
}
