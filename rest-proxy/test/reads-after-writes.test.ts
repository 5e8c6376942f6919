import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { type ProxySettings, route, startProxy, startStub } from "./testing.ts";

/* A client that has the response to its write through this proxy reads what it wrote, whatever the write's response names. */

const routes = [
  route("listThings", "GET", "/things", { cache: "public" }),
  route("changeThing", "PATCH", "/things/:id", {}),
  route("changePart", "PATCH", "/parts/:id", { service: "parts" }),
];

const collapsed = "tributary; fwd=uri-miss; collapsed";

/** A proxy whose service responds when the test says so. */
async function setUp(settings: ProxySettings = {}) {
  const held: ServerResponse[] = [];
  const stub = await startStub((_request, response) => void held.push(response));
  const { url, server } = await startProxy(stub, { routes, ...settings });
  let receivedCount = 0;
  server.on("request", () => receivedCount++);

  /** Sends a request and waits until the service has it. */
  async function arrive(method: string, path: string) {
    const count = held.length;
    const response = fetch(url + path, { method });
    await expect.poll(() => held.length).toBe(count + 1);
    return { response, atService: held[count] as ServerResponse };
  }

  /** Sends a read and waits until the proxy has it. It joins another one, or gets what is stored. */
  async function join(path: string) {
    const count = receivedCount;
    const response = fetch(url + path);
    await expect.poll(() => receivedCount).toBe(count + 1);
    return async () => [(await response).headers.get("cache-status"), await (await response).json()];
  }

  async function write(path: string): Promise<void> {
    const { response, atService } = await arrive("PATCH", path);
    atService.end("{}");
    await response;
  }

  return { url, arrive, join, write };
}

type Arrived = Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>["arrive"]>>;

async function respond({ response, atService }: Arrived, text: string): Promise<unknown> {
  atService.setHeader("Cache-Control", "public, max-age=60").end(JSON.stringify(text));
  return (await response).json();
}

test("a list joins none that was sent before the response to a write of a member", async () => {
  const { arrive, write } = await setUp();
  const before = await arrive("GET", "/v1/things");
  await write("/v1/things/1");
  const after = await arrive("GET", "/v1/things");
  expect([await respond(after, "new"), await respond(before, "old")]).toEqual(["new", "old"]);
});

test("a list joins one that was sent before a write to another service", async () => {
  const { arrive, join, write } = await setUp();
  const before = await arrive("GET", "/v1/things");
  await write("/v1/parts/1");
  const joined = await join("/v1/things");
  await respond(before, "list");
  expect(await joined()).toEqual([collapsed, "list"]);
});

test("a list sent before a write that timed out is neither joined nor stored", async () => {
  const { arrive, join } = await setUp({ upstreamTimeoutMs: 1_000 });
  const writing = await arrive("PATCH", "/v1/things/1");
  // So that the read does not time out with the write.
  await wait(500);
  const before = await arrive("GET", "/v1/things");
  expect((await writing.response).status).toBe(504);
  const after = await arrive("GET", "/v1/things");
  await respond(before, "old");
  const joined = await join("/v1/things");
  await respond(after, "new");
  expect(await joined()).toEqual([collapsed, "new"]);
});

test("a write that is rejected because too many requests are in flight ends no coalescing", async () => {
  const { url, arrive, join } = await setUp({ inFlightMax: 1 });
  const before = await arrive("GET", "/v1/things");
  expect((await fetch(`${url}/v1/things/1`, { method: "PATCH" })).status).toBe(503);
  const joined = await join("/v1/things");
  await respond(before, "list");
  expect(await joined()).toEqual([collapsed, "list"]);
});
