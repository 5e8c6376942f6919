import { expect, test } from "vitest";
import { type Route } from "../src/route/routes.ts";
import { route, startProxy, startStub, type Stub } from "./testing.ts";

const keyed: readonly Route[] = [
  route("getThing", "GET", "/things/:id", { cache: "none" }),
  route("createThing", "POST", "/things", { idempotencyKey: { optional: [1], required: [] } }),
];

test("no read fails when a replica of a service is killed under load, and its ejection is reported", async () => {
  const { stubs, proxy } = await startTwoReplicas();
  let sent = 0;
  const statuses = await load(1_000, 16, async () => {
    if (++sent === 300) kill(stubs[0]);
    const response = await fetch(`${proxy.url}/v1/things/1`);
    await response.arrayBuffer();
    return response.status;
  });
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(proxy.observed).toContainEqual(expect.objectContaining({ kind: "replica-ejected", service: "things" }));
  expect(proxy.observed.map(({ kind }) => kind)).not.toContain("service-failed");
});

test.each([
  ["without a key is never sent twice", {}, 1],
  ["with a key that its route accepts is sent to the other replica", { "idempotency-key": "k-1" }, 2],
])("a write %s, when a connection breaks", async (_, headers, calls) => {
  const { stubs, proxy } = await startTwoReplicas();
  let broken = 0;
  for (const { server } of stubs)
    server.prependListener("request", (request) => {
      if (broken++ === 0) request.socket.resetAndDestroy();
    });
  const response = await fetch(`${proxy.url}/v1/things`, { method: "POST", body: "{}", headers });
  expect(response.status).toBe(calls === 1 ? 502 : 200);
  expect(broken).toBe(calls);
});

async function startTwoReplicas() {
  const stubs: [Stub, Stub] = [await startStub(), await startStub()];
  const addresses = { things: stubs.map(({ url }) => url) };
  return { stubs, proxy: await startProxy(stubs[0], { routes: keyed, addresses }) };
}

/** As `kill -9` does. */
function kill({ server }: Stub): void {
  server.close();
  server.closeAllConnections();
}

async function load<T>(count: number, width: number, send: () => Promise<T>): Promise<T[]> {
  const responses: T[] = [];
  let started = 0;
  const run = async () => {
    while (started++ < count) responses.push(await send());
  };
  await Promise.all(Array.from({ length: width }, run));
  return responses;
}
