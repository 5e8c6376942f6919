import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { sendRaw, bodyOf, route, openConnection, startProxy, startStub, statusOf } from "./testing.ts";

const createThing = route("createThing", "POST", "/things", {});

const smuggling: readonly (readonly [string, string])[] = [
  [
    "both lengths",
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
  ],
  ["two different lengths", "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}"],
  ["a length with a sign", "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}"],
  ["a list of lengths", "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}"],
  ["an odd transfer coding", "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
  [
    "chunked and then another coding",
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
  ],
  ["a space before the colon", "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"],
  ["a folded header", "GET /v1/things HTTP/1.1\r\nHost: a\r\nX: 1\r\n Transfer-Encoding: chunked\r\n\r\n"],
  ["a bare line feed in a header", "GET /v1/things HTTP/1.1\r\nHost: a\r\nX: 1\nY: 2\r\n\r\n"],
  ["a bare carriage return in a header", "GET /v1/things HTTP/1.1\r\nHost: a\r\nX: 1\rY: 2\r\n\r\n"],
  ["NUL in a header", "GET /v1/things HTTP/1.1\r\nHost: a\r\nX: 1\0\r\n\r\n"],
  [
    "a chunk size that is none",
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
  ],
  [
    "a chunk longer than it says",
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
  ],
  ["a space in the target", "GET /v1/things /1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["another version of HTTP", "GET /v1/things HTTP/2.7\r\nHost: a\r\n\r\n"],
  ["no HTTP at all", "\u0016\u0003\u0001\u0002\0\u0001\0"],
  ["a method that is none", "G@T /v1/things HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n"],
];

test.each(smuggling)("%s is 400 in problem form, and the connection ends", async (_name, bytes) => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const response = await (
    await openConnection(proxy.port, `${bytes}GET /v1/things/hidden HTTP/1.1\r\nHost: a\r\n\r\n`)
  ).closed();
  expect(statusOf(response)).toBe(400);
  expect(response).toContain("Content-Type: application/problem+json");
  expect(response).toContain("Connection: close");
  expect(bodyOf(response)).toMatchObject({
    type: "/problems/malformed-request",
    status: 400,
    requestId: expect.any(String),
  });
  expect(stub.received).toEqual([]);
});

test("headers that are too long are 431, and chunk extensions that are, 413", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const headers = await (
    await openConnection(proxy.port, `GET /v1/things HTTP/1.1\r\nHost: a\r\nX: ${"y".repeat(20_000)}\r\n\r\n`)
  ).closed();
  expect([statusOf(headers), bodyOf(headers)["type"]]).toEqual([431, "/problems/headers-too-large"]);
  const extension = `1;${"e".repeat(20_000)}\r\n`;
  const chunk = await (
    await openConnection(
      proxy.port,
      `POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${extension}`,
    )
  ).closed();
  expect([statusOf(chunk), bodyOf(chunk)["type"]]).toEqual([413, "/problems/payload-too-large"]);
  expect(stub.received).toEqual([]);
});

test.each([
  ["a query whose spaces are written longer", `GET /v1/things?search=${"+".repeat(8_000)} HTTP/1.1\r\nHost: a`],
  [
    "a head to which ours would be too much",
    `POST /v1/things HTTP/1.1\r\nHost: a\r\nUser-Agent: ${"y".repeat(16_000)}`,
  ],
])("%s is rejected by the proxy, before a service would close a connection because of it", async (_name, head) => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const response = await sendRaw(proxy.port, head);
  expect([statusOf(response), bodyOf(response)["type"]]).toEqual([431, "/problems/headers-too-large"]);
  expect(stub.received).toEqual([]);
});

test("an Upgrade is ignored: the response is HTTP/1.1", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const head = "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  expect(await (await openConnection(proxy.port, head)).until(/"ok":true/)).toContain("200 OK");
  expect(stub.received[0]?.headers["upgrade"]).toBeUndefined();
});

test("pipelined requests get their responses in order", async () => {
  const stub = await startStub((request, response) => response.end(`"${request.url}"`));
  const proxy = await startProxy(stub);
  const request = (id: number) => `GET /v1/things/${id} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const responses = await (await openConnection(proxy.port, request(1) + request(2) + request(3))).until(/things\/3/);
  expect([...responses.matchAll(/things\/\d/g)].map(String)).toEqual(["things/1", "things/2", "things/3"]);
});

const brokenRequests: readonly (readonly [string, string])[] = [
  ["no request line", "broken\r\n\r\n"],
  ["a header line without a colon", "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"],
  ["CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n"],
  ["a broken chunk", "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"],
];

test.each(brokenRequests)(
  "pipelined requests before one with %s get their responses in order, then comes a 400 and the connection closes",
  async (_name, broken) => {
    const stub = await startStub((request, response) => {
      response.setHeader("Cache-Control", request.url.endsWith("/1") ? "public, max-age=60" : "no-store");
      setTimeout(() => response.end(`"${request.url}"`), 20);
    });
    const proxy = await startProxy(stub, {
      routes: [route("getThing", "GET", "/things/:id", { cache: "public" }), createThing],
    });
    const request = (id: number) => `GET /v1/things/${id} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const client = await openConnection(proxy.port, request(1));
    await client.until(/things\/1/);
    // Hits and misses mixed.
    client.socket.write([1, 2, 1, 3, 1].map(request).join("") + broken);
    const text = await client.closed();
    expect(
      [...text.matchAll(/HTTP\/1.1 (\d+)|"\/rest\/v1(\/things\/\d)"/g)].map(([, status, path]) => status ?? path),
    ).toEqual([
      ...["200", "/things/1"],
      ...["200", "/things/1", "200", "/things/2", "200", "/things/1", "200", "/things/3", "200", "/things/1"],
      "400",
    ]);
    expect(text).toMatch(/\r\nConnection: close\r\n[^]*"\/problems\/malformed-request"/);
  },
);

test("a malformed request is rejected after the pending response before it, and input after it is ignored", async () => {
  const waiting: ServerResponse[] = [];
  const stub = await startStub((_request, response) => void waiting.push(response));
  const proxy = await startProxy(stub);
  const responses: ServerResponse[] = [];
  proxy.server.on("request", (_request, response: ServerResponse) => responses.push(response));
  const client = await openConnection(proxy.port, "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n");
  await expect.poll(() => waiting.length).toBe(1);
  const listenersAfter = async (bytes: string) => {
    client.socket.write(bytes);
    await sleep(20);
    return responses[0]?.listenerCount("close");
  };
  const listeners = await listenersAfter("broken\r\n\r\n");
  expect(await listenersAfter("more\r\n\r\n")).toBe(listeners);
  waiting[0]?.end('{"ok":true}');
  expect(statusesOf(await client.closed())).toEqual(["200", "400"]);
});

test("a client that is slow with its headers or its body is 408 and disconnected, while others are served", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const slowHeaders = await openConnection(proxy.port, "GET /v1/things/1 HTTP/1.1\r\nHost:");
  const slowBody = await openConnection(
    proxy.port,
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{",
  );
  expect((await fetch(`${proxy.url}/v1/things/1`)).status).toBe(200);
  for (const client of [slowHeaders, slowBody]) {
    const response = await client.closed();
    expect(statusOf(response)).toBe(408);
    expect(bodyOf(response)).toMatchObject({ type: "/problems/request-timeout" });
  }
  expect(stub.received).toHaveLength(1);
});

test.each(["", "Host: a\r\nHost: b\r\n"])("a health check with the Host lines %j is 400", async (hosts) => {
  const proxy = await startProxy(await startStub());
  const client = await openConnection(proxy.port, `GET /health/live HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
  expect(statusOf(await client.closed())).toBe(400);
});

test("an idle connection without a request is closed too", async () => {
  const proxy = await startProxy(await startStub(), { headersTimeoutMs: 100, requestTimeoutMs: 200 });
  expect(statusOf(await (await openConnection(proxy.port)).closed())).toBe(408);
});

test("a head that stays incomplete after a response is 408", async () => {
  const proxy = await startProxy(await startStub(), { headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const client = await openConnection(proxy.port, "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until(/"ok":true/);
  client.socket.write("GET /v1/thi");
  expect(statusesOf(await client.closed())).toEqual(["200", "408"]);
});

test("the body of a request that was rejected before its end is not read as a request", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { bodyBytesMax: 10 });
  const hidden = "GET /v1/things/hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  const head = `POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n`;
  const client = await openConnection(proxy.port, head);
  await client.until(/payload-too-large/);
  client.socket.write(`${hidden}GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(statusesOf(await client.until(/"ok":true/))).toEqual(["413", "200"]);
  expect(stub.received.map(({ url }) => url)).toEqual(["/rest/v1/things/1"]);
});

test("responses to a client that does not read are not buffered without bound", async () => {
  const stub = await startStub((_request, response) => {
    response.setHeader("Cache-Control", "public, max-age=60").end("y".repeat(90_000));
  });
  const proxy = await startProxy(stub, { routes: [route("getThing", "GET", "/things/:id", { cache: "public" })] });
  const sockets: Socket[] = [];
  proxy.server.on("connection", (socket) => sockets.push(socket));
  const request = "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n";
  const client = await openConnection(proxy.port, request);
  await client.until(/y$/);
  client.socket.pause();
  // Some 25 MB of responses: more than the operating system buffers for one connection.
  for (let sent = 0; sent < 300; sent++) {
    client.socket.write(request);
    await sleep(1);
  }
  expect(Math.max(...sockets.map(({ writableLength }) => writableLength))).toBeLessThan(500_000);
});

/** Of all responses in what a connection received. */
function statusesOf(text: string): (string | undefined)[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
}
