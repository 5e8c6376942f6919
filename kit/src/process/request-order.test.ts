import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type RunningServer, startServer } from "./lifecycle.ts";
import { silentLog } from "./log.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

test("the requests of a connection are served one after the other", async () => {
  const served: string[] = [];
  const responses: ServerResponse[] = [];
  const { port } = await start((request, response) => {
    served.push(request.url ?? "");
    responses.push(response);
  });
  const client = await open(port, get("/1") + get("/2") + get("/health/live") + get("/3"));
  let received = "";
  client.on("data", (chunk) => (received += String(chunk)));
  for (const count of [1, 2, 3]) {
    await expect.poll(() => responses.length).toBe(count);
    responses[count - 1]?.end(`response ${count}`);
  }
  await expect.poll(() => received).toMatch(/response 1[^]*response 2[^]*"live"[^]*response 3/);
  expect(served).toEqual(["/1", "/2", "/3"]);
  client.write(get("/4"));
  await expect.poll(() => served.at(-1)).toBe("/4");
});

test("pipelined requests behind an unread response take no place of another client's", async () => {
  const unread: RequestListener = (_, response) => response.end(Buffer.alloc(50_000_000));
  const { port, url } = await start(unread, 3);
  const clients = [await open(port, get("/") + get("/health/live").repeat(60)), await open(port, get("/").repeat(60))];
  for (const client of clients) await once(client, "readable");
  // The third place.
  expect((await fetch(`${url}/`, { method: "HEAD" })).status).toBe(200);
  for (const client of clients) client.destroy();
});

test("a connection with more than 64 requests that wait is closed, and takes no place afterwards", async () => {
  const { port, url } = await start((request, response) => void (request.url === "/" || response.end()), 2);
  for (let attack = 0; attack < 5; attack++) await once(await open(port, get("/").repeat(1_800)), "close");
  expect((await fetch(`${url}/other`)).status).toBe(200);
});

async function start(handler: RequestListener, requestsInFlightMax = 10): Promise<RunningServer> {
  const server = await startServer({
    name: "test",
    handler,
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    isReady: () => true,
    close: async () => {},
    drainDelayMs: 0,
    shutdownGraceMs: 100,
    requestsInFlightMax,
  });
  onTestFinished(() => server.drain());
  return server;
}

async function open(port: number, sent: string): Promise<Socket> {
  const client = connect(port, "127.0.0.1").on("error", () => {});
  await once(client, "connect");
  client.write(sent);
  return client;
}
