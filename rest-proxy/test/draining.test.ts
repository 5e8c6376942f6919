import { expect, test } from "vitest";
import { route, speak, startProxy, startStub } from "./testing.ts";

const kept = "/v1/things/1";
const asked = "/v1/things/1/parts";

test("a proxy that is drained under load fails nobody, and lets each client go with an answer", async () => {
  const stub = await startStub(({ url }, response) => {
    response.setHeader("Cache-Control", url.endsWith("/parts") ? "private, no-cache" : "public, max-age=60");
    setTimeout(() => response.end('{"ok":true}'), 5);
  });
  const proxy = await startProxy(stub, { drainDelayMs: 300 });
  const clients = Array.from({ length: 12 }, (_, index) => askUntilLetGo(`${proxy.url}${index % 2 ? kept : asked}`));
  await expect.poll(() => stub.seen.length).toBeGreaterThan(50);
  await proxy.drain();
  // Each of them was answered, to the last request.
  const answered = await Promise.all(clients);
  expect(Math.min(...answered)).toBeGreaterThan(0);
});

test("draining waits for a client that is still reading a cached response", async () => {
  const stub = await startStub((_seen, response) => {
    response.setHeader("Cache-Control", "public, max-age=60").end("y".repeat(20_000_000));
  });
  const proxy = await startProxy(stub, {
    routes: [route("getThing", "GET", "/things/:id", { cache: "public" })],
    cacheLimits: { bytesMax: 5e7, entryBytesMax: 5e7, entriesMax: 9, variantsMax: 9, backgroundMax: 9 },
  });
  expect((await (await fetch(`${proxy.url}${kept}`)).text()).length).toBe(20_000_000);
  const client = await speak(proxy.port, `GET ${kept} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await client.until(/y$/);
  client.socket.pause();
  const drained = proxy.drain();
  setTimeout(() => client.socket.resume(), 100);
  const [head = "", body = ""] = (await client.closed()).split("\r\n\r\n");
  expect([head.includes("Cache-Status: tributary; hit"), body.length]).toEqual([true, 20_000_000]);
  await drained;
  expect(stub.seen).toHaveLength(1);
});

/** As a client behind a balancer: asks until an answer ends its connection. Rejects when one does not come. */
async function askUntilLetGo(url: string): Promise<number> {
  for (let answered = 1; ; answered++) {
    const answer = await fetch(url);
    const body = await answer.json();
    expect([answer.status, body]).toEqual([200, { ok: true }]);
    if (answer.headers.get("connection") === "close") return answered;
  }
}
