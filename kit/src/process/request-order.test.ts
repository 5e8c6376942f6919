import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/test-server.ts";
import type { RunningServer } from "./lifecycle.ts";

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

test("a connection that is closed for too many requests takes no place of requests that are read with it", async () => {
  const { port } = await start((request, response) => void (request.url === "/hang" || response.end()), 20);
  const [attacker, ...others] = await Promise.all(Array.from({ length: 21 }, () => open(port, "")));
  const statuses = others.map(async (client) => String((await once(client, "data"))[0]).slice(9, 12));
  // The server reads all in one iteration of the event loop.
  attacker?.write(get("/hang").repeat(1_800));
  for (const client of others) client.write(get("/"));
  expect(new Set(await Promise.all(statuses))).toEqual(new Set(["200"]));
  for (const client of others) client.destroy();
});

test("an unknown expectation is ignored, also in the order of a connection", async () => {
  const served: string[] = [];
  const { port } = await start(({ url = "" }, response) => {
    served.push(url);
    setTimeout(() => response.end(url), 20);
  });
  const client = await open(
    port,
    get("/1") + get("/2").replace("\r\n\r\n", "\r\nExpect: a-miracle\r\n\r\n") + get("/3"),
  );
  let received = "";
  client.on("data", (chunk) => (received += String(chunk)));
  await expect.poll(() => received).toMatch(/\/1[^]*\/2[^]*\/3$/);
  expect(received.match(/ \d{3} /g)).toEqual([" 200 ", " 200 ", " 200 "]);
  expect(served).toEqual(["/1", "/2", "/3"]);
  client.destroy();
});

test("a connection with more than four requests with a body that wait is closed", async () => {
  const { port } = await start(() => {});
  const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`;
  const few = await open(port, get("/") + post.repeat(4));
  await once(await open(port, get("/") + post.repeat(5)), "close");
  expect(few.closed).toBe(false);
  few.destroy();
});

test("a request that waits has nothing of the one before it: no asynchronous context, no timeout of the socket", async () => {
  const context = new AsyncLocalStorage<string>();
  const contexts: unknown[] = [];
  const { port } = await start((request, response) => {
    contexts.push(context.getStore());
    if (request.url === "/2") setTimeout(() => response.end("late"), 300);
    else context.run("of the first", () => setImmediate(() => response.setTimeout(100).end()));
  });
  const client = await open(port, get("/1") + get("/2"));
  let received = "";
  client.on("data", (chunk) => (received += String(chunk)));
  await expect.poll(() => received).toContain("late");
  expect(contexts).toEqual([undefined, undefined]);
  client.destroy();
});

test("after a response with Connection: close no request that waits is served", async () => {
  const served: string[] = [];
  const { port } = await start((request, response) => {
    served.push(request.url ?? "");
    setImmediate(() => response.setHeader("Connection", "close").end());
  });
  await once((await open(port, get("/1") + get("/2"))).resume(), "close");
  expect(served).toEqual(["/1"]);
});

test("a connection without pending responses retains no response", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let response: WeakRef<ServerResponse> | undefined;
  const { port } = await start((_, one) => {
    response = new WeakRef(one);
    one.end("read");
  });
  const client = await open(port, get("/"));
  await once(client, "data");
  await expect.poll(() => (collect(), response?.deref())).toBeUndefined();
  client.destroy();
});

function start(handler: RequestListener, requestsInFlightMax = 10): Promise<RunningServer> {
  return startTestServer({ handler, requestsInFlightMax, shutdownGraceMs: 100 });
}

async function open(port: number, sent: string): Promise<Socket> {
  const client = connect(port, "127.0.0.1").on("error", () => {});
  await once(client, "connect");
  client.write(sent);
  return client;
}
