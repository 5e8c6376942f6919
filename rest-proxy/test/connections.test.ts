import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { expect, test } from "vitest";
import { createObservationCounts } from "../src/telemetry/observation-counts.ts";
import { sendRaw, bodyOf, route, openConnection, startProxy, startStub, statusOf } from "./testing.ts";

// Connections of clients: invalid input, pipelining, timeouts, draining.

const createThing = route("createThing", "POST", "/things", {});
const get = "GET /v1/things/1 HTTP/1.1\r\nHost: a";

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
    "a chunk longer than its size",
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
  ],
  ["a space in the target", "GET /v1/things /1 HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["another version of HTTP", "GET /v1/things HTTP/2.7\r\nHost: a\r\n\r\n"],
  ["no HTTP at all", "\u0016\u0003\u0001\u0002\0\u0001\0"],
  ["a method that is none", "G@T /v1/things HTTP/1.1\r\nHost: a\r\n\r\n"],
  ["CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n"],
];

test("ambiguous and malformed requests are 400 in problem form, and the connection ends", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const [name, bytes] of smuggling) {
    const hidden = "GET /v1/things/hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    const response = await (await openConnection(proxy.port, `${bytes}${hidden}`)).closed();
    expect(statusOf(response), name).toBe(400);
    expect(response).toContain("Content-Type: application/problem+json");
    expect(response).toContain("Connection: close");
    expect(bodyOf(response)).toMatchObject({
      type: "/problems/malformed-request",
      status: 400,
      requestId: expect.any(String),
    });
  }
  expect(stub.received).toEqual([]);
});

test("input that is rejected before it is a request is counted by its code", async () => {
  const proxy = await startProxy(await startStub());
  for (const bytes of [`${get}\r\nX: ${"y".repeat(20_000)}\r\n\r\n`, "hello\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\n\r\n"])
    await (await openConnection(proxy.port, bytes)).closed();
  const metrics = await createPrometheus(metricsOf.rest);
  const count = createObservationCounts(metrics);
  for (const observation of proxy.observed) count(observation);
  expect((await metrics.write()).match(/^tributary_rest_rejected_total\{.*\} [1-9].*$/gm)?.toSorted()).toEqual([
    'tributary_rest_rejected_total{code="HEADERS_TOO_LARGE"} 1',
    'tributary_rest_rejected_total{code="MALFORMED_REQUEST"} 2',
  ]);
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

test("a connection without a request, or with one that stays incomplete, is 408 and closed, while others are served", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { headersTimeoutMs: 100, requestTimeoutMs: 200 });
  const idle = await openConnection(proxy.port);
  const slowHeaders = await openConnection(proxy.port, "GET /v1/things/1 HTTP/1.1\r\nHost:");
  const slowBody = await openConnection(
    proxy.port,
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{",
  );
  const second = await openConnection(proxy.port, `${get}\r\n\r\n`);
  await second.until(/"ok":true/);
  second.socket.write("GET /v1/thi");
  for (const client of [idle, slowHeaders, slowBody]) {
    const response = await client.closed();
    const [head = "", body = ""] = response.split("\r\n\r\n");
    const { requestId, ...problem } = bodyOf(response);
    expect(problem).toMatchObject({ type: "/problems/request-timeout", status: 408 });
    expect(head.split("\r\n")).toEqual([
      "HTTP/1.1 408 Request Timeout",
      "Content-Type: application/problem+json",
      "Cache-Control: no-store",
      `X-Request-Id: ${String(requestId)}`,
      `Content-Length: ${body.length}`,
      "Connection: close",
    ]);
  }
  expect(statusesOf(await second.closed())).toEqual(["200", "408"]);
  expect(stub.received).toHaveLength(1);
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

test("draining completes the requests in flight with Connection: close", async () => {
  const waiting: ServerResponse[] = [];
  const stub = await startStub((_request, response) => void waiting.push(response));
  const proxy = await startProxy(stub);
  const client = await openConnection(proxy.port, `${get}\r\n\r\n`);
  await expect.poll(() => waiting.length).toBe(1);
  const drained = proxy.drain();
  waiting[0]?.end('{"ok":true}');
  expect(await client.closed()).toContain('{"ok":true}');
  await drained;
});

test("Connection: close that was set before the response is kept", async () => {
  const proxy = await startProxy(await startStub());
  proxy.server.prependListener("request", (_request, response: ServerResponse) => {
    response.setHeader("Connection", "close");
  });
  const client = await openConnection(proxy.port, `${get}\r\n\r\n`);
  expect(await client.closed()).toMatch(/\r\nConnection: close\r\n[^]*"ok":true/);
});

const cachedPath = "/v1/things/1";
const uncachedPath = "/v1/things/1/parts";

test("a proxy that is drained under load fails no request, and closes each connection with a response", async () => {
  const stub = await startStub(({ url }, response) => {
    response.setHeader("Cache-Control", url.endsWith("/parts") ? "private, no-cache" : "public, max-age=60");
    setTimeout(() => response.end('{"ok":true}'), 5);
  });
  const proxy = await startProxy(stub, { drainDelayMs: 150 });
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

/** Of all responses in what a connection received. */
function statusesOf(text: string): (string | undefined)[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
}
