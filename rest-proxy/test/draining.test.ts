import { expect, test } from "vitest";
import { startProxy, startStub } from "./testing.ts";

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

/** As a client behind a balancer: asks until an answer ends its connection. Rejects when one does not come. */
async function askUntilLetGo(url: string): Promise<number> {
  for (let answered = 1; ; answered++) {
    const answer = await fetch(url);
    const body = await answer.json();
    expect([answer.status, body]).toEqual([200, { ok: true }]);
    if (answer.headers.get("connection") === "close") return answered;
  }
}
