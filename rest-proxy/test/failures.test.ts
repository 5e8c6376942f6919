import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Log, silentLog } from "@tributary/kit/process/log";
import { createFailureLog } from "@tributary/kit/telemetry/failure-log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { expect, test, onTestFinished } from "vitest";
import type { Route } from "../src/route/routes.ts";
import { createObserver, type Observation } from "../src/telemetry/observations.ts";
import { createProxyRequestObserver } from "../src/telemetry/request-observer.ts";
import {
  sendRaw,
  bodyOf,
  findClosedPort,
  listen,
  openConnection,
  route,
  startProxy,
  startStub,
  statusOf,
  type Stub,
} from "./testing.ts";

// Services that fail, are slow or are overloaded, and clients that disconnect.

const get = "GET /v1/things/1 HTTP/1.1\r\nHost: evil.example";

test("a service that is down is 502 with Retry-After, without internals, and its replica is logged", async () => {
  const port = await findClosedPort();
  const proxy = await startProxy({ url: `http://127.0.0.1:${port}` });
  const response = await sendRaw(proxy.port, get);
  expect(statusOf(response)).toBe(502);
  expect(response).toMatch(/\r\nRetry-After: 5\r\n/);
  expect(response).toMatch(/\r\nContent-Type: application\/problem\+json\r\n/);
  expect(response).toMatch(/\r\nAPI-Version: 1\r\n/);
  expect(response).not.toMatch(/evil|127\.0\.0\.1|ECONN/);
  expect(response).not.toContain(String(port));
  expect(bodyOf(response)).toMatchObject({
    type: "/problems/bad-gateway",
    title: "Bad gateway",
    status: 502,
    instance: "/v1/things/1",
    requestId: /X-Request-Id: (\S+)/.exec(response)?.[1],
  });
  const failed = {
    kind: "service-failed",
    service: "things",
    code: "BAD_GATEWAY",
    replica: `http://127.0.0.1:${port}/`,
  };
  expect(proxy.observed).toContainEqual(expect.objectContaining(failed));
  await sendRaw(proxy.port, get.replace("GET", "DELETE"));
  await expect
    .poll(() => proxy.settled.map(({ record }) => record.failedReplica))
    .toEqual([failed.replica, failed.replica]);
});

test("a service that is up again gets requests without a restart of the proxy", async () => {
  const port = await findClosedPort();
  const proxy = await startProxy({ url: `http://127.0.0.1:${port}` });
  expect((await fetch(`${proxy.url}/v1/things/1`)).status).toBe(502);
  const server = createServer((_request, response) => response.end("{}")).listen(port, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  expect((await fetch(`${proxy.url}/v1/things/1`)).status).toBe(200);
});

test.each([
  ["closes the connection", ""],
  ["does not speak HTTP", "SSH-2.0-OpenSSH_9.2\r\n"],
  ["sends two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"],
  ["switches protocols unasked", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"],
  ["sends headers without end", `HTTP/1.1 200 OK\r\nX: ${"y".repeat(20_000)}\r\n\r\n`],
  ["sends status 000", "HTTP/1.1 000 Odd\r\nContent-Length: 2\r\n\r\n{}"],
  ["sends status 099", "HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\n{}"],
  ["sends status 600", "HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n\r\n{}"],
])("a service that %s is 502, for a read and, without Retry-After, for a write", async (_name, bytes) => {
  const proxy = await startProxy(await startRawService(bytes), { upstreamTimeoutMs: 2_000 });
  for (const method of ["GET", "DELETE"]) {
    const response = await fetch(`${proxy.url}/v1/things/1`, { method });
    expect(response.status).toBe(502);
    expect(response.headers.get("retry-after")).toBe(method === "GET" ? "5" : null);
    expect(await response.json()).toMatchObject({ type: "/problems/bad-gateway" });
  }
});

test("a truncated response is truncated for the client too, never ended as if it were complete", async () => {
  const proxy = await startProxy(
    await startRawService("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
  );
  const response = await sendRaw(proxy.port, get);
  expect(response).toContain("hello");
  expect(response).not.toMatch(/\r\n0\r\n\r\n$/);
});

test("responses that a service truncates are counted as 502, and the log has the first one, then counts", async () => {
  const lines: object[] = [];
  const write = (fields: object) => void lines.push(fields);
  const log: Log = { ...silentLog, info: write, warn: write };
  const metrics = await createPrometheus(metricsOf.rest);
  const about = { log, metrics, trace: noTrace, accessLog: "sampled", knownClients: [], newestVersion: 1 } as const;
  const requests = createProxyRequestObserver(about);
  const failures = createFailureLog(log);
  const logObservation = createObserver(log, failures);
  const observe = (observation: Observation) =>
    void (observation.kind === "response-truncated" && logObservation(observation));
  const service = await startRawService("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  const proxy = await startProxy(service, { observe, observers: { requests } });
  for (let i = 0; i < 10; i++) await sendRaw(proxy.port, get);
  const counted = 'requests_total{route="/things/:id",version="1",method="GET",status="502"} 10';
  await expect.poll(() => metrics.write()).toContain(counted);
  requests?.close();
  failures.close();
  const failed = { service: "things", route: "/things/:id", status: 502 };
  expect(lines).toMatchObject([
    { service: "things", reason: expect.stringContaining("BAD_GATEWAY") },
    failed,
    { ...failed, observation: "failed-requests-counted", count: 9 },
    { observation: "failures-counted", service: "things", count: 9 },
  ]);
});

test("a silent service is 504, other than a failing one", async () => {
  const silent = await listen(createServer(() => undefined));
  const proxy = await startProxy(
    { url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` },
    { upstreamTimeoutMs: 50 },
  );
  const received = once(silent, "request") as Promise<[IncomingMessage]>;
  const response = await fetch(`${proxy.url}/v1/things/1`);
  expect(response.status).toBe(504);
  expect(await response.json()).toMatchObject({
    type: "/problems/gateway-timeout",
    status: 504,
    instance: "/v1/things/1",
  });
  const [request] = await received;
  if (!request.socket.destroyed) await once(request.socket, "close");
});

test("a slow response is truncated at the deadline", async () => {
  const stub = await startStub((_request, response) => {
    response.flushHeaders();
    const timer = setInterval(() => response.write("x"), 20);
    response.on("close", () => clearInterval(timer));
  });
  const proxy = await startProxy(stub, { upstreamTimeoutMs: 200 });
  const response = await sendRaw(proxy.port, get);
  expect(response).toContain("200 OK");
  expect(response).not.toMatch(/\r\n0\r\n\r\n$/);
  expect(proxy.observed).toContainEqual(
    expect.objectContaining({ kind: "response-truncated", reason: "GATEWAY_TIMEOUT" }),
  );
});

test("a client that reads slowly has longer than the service, and is disconnected in the end", async () => {
  const size = 20_000_000;
  const stub = await startStub((_request, response) => response.end(Buffer.alloc(size)));
  // Until the deadline of the service, the proxy has to receive what its buffers hold.
  const longTimeout = await startProxy(stub, { upstreamTimeoutMs: 2_000, responseTimeoutMs: 60_000 });
  const slow = await openConnection(longTimeout.port, `${get}\r\nConnection: close\r\n\r\n`);
  const shortTimeout = await startProxy(stub, { upstreamTimeoutMs: 2_000, responseTimeoutMs: 2_100 });
  const never = await openConnection(shortTimeout.port, `${get}\r\n\r\n`);
  for (const { socket } of [slow, never]) socket.pause();
  await sleep(2_100); // Until after the deadline of the service.
  slow.socket.resume();
  expect((await slow.closed()).length).toBeGreaterThan(size);
  // Not a failure of the service.
  await expect
    .poll(() => shortTimeout.observed.filter(({ kind }) => kind === "response-truncated"))
    .toEqual([expect.not.objectContaining({ service: expect.anything() })]);
});

test("a connection has as many listeners after many requests as after one", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  let listeners = 0;
  proxy.server.prependListener("request", ({ socket }: IncomingMessage) => {
    listeners = socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0);
  });
  expect(await growth(proxy.port, () => listeners)).toBe(0);
});

test("eleven services add no listener to the server", async () => {
  const stub = await startStub();
  const services = Array.from({ length: 11 }, (_, index) => `service-${index}`);
  const table = services.map((service) => route(service, "GET", `/${service}`, { service, versions: [2] }));
  const proxy = await startProxy(stub, { routes: table });
  const before = proxy.server.listenerCount("close");
  for (const service of services) expect((await fetch(`${proxy.url}/${service}`)).status).toBe(200);
  expect(proxy.server.listenerCount("close")).toBe(before);
});

test("when inFlightMax is reached at a service, further requests are 503 with Retry-After; other services are not affected", async () => {
  const waiting: ServerResponse[] = [];
  const things = await startStub((_request, response) => void waiting.push(response));
  const parts = await startStub();
  const proxy = await startProxy(things, { inFlightMax: 2, addresses: { things: [things.url], parts: [parts.url] } });
  const first = [fetch(`${proxy.url}/v1/things/1`), fetch(`${proxy.url}/v1/things/2`)];
  await expect.poll(() => waiting.length).toBe(2);
  const refused = await fetch(`${proxy.url}/v1/things/3`);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ type: "/problems/service-unavailable" });
  expect((await fetch(`${proxy.url}/v1/things/1/parts`)).status).toBe(200);
  for (const response of waiting.splice(0)) response.end("{}");
  for (const response of await Promise.all(first)) expect(response.status).toBe(200);
  const later = fetch(`${proxy.url}/v1/things/3`);
  await expect.poll(() => waiting.length).toBe(1);
  waiting[0]?.end("{}");
  expect((await later).status).toBe(200);
});

test("when the client disconnects, the request to the service is aborted and no longer in flight", async () => {
  const closed: Promise<unknown>[] = [];
  const stub = await startStub((_request, response) => void closed.push(once(response, "close")));
  const proxy = await startProxy(stub, { inFlightMax: 1 });
  for (const _ of [1, 2]) {
    const before = closed.length;
    const client = await openConnection(proxy.port, `${get}\r\n\r\n`);
    await expect.poll(() => closed.length).toBe(before + 1);
    client.socket.destroy();
    await closed.at(-1);
  }
  await expect.poll(() => proxy.settled.map(({ status }) => status)).toEqual([499, 499]);
  expect(proxy.observed).not.toContainEqual(expect.objectContaining({ kind: "service-failed" }));
});

test("a client sets its own deadline, and then gets 504; the service gets 5 % less", async () => {
  const closed: Promise<unknown>[] = [];
  const stub = await startStub((_request, response) => void closed.push(once(response, "close")));
  const shared = route("getThing", "GET", "/things/:id", { cache: "public" });
  const proxy = await startProxy(stub, { routes: [shared, route("deleteThing", "DELETE", "/things/:id", {})] });
  const late = `${get}\r\nX-Deadline-Ms: 500`;
  for (const head of [late, late.replace("GET", "DELETE")]) {
    const startedMs = performance.now();
    expect(statusOf(await sendRaw(proxy.port, head))).toBe(504);
    expect(performance.now() - startedMs).toBeGreaterThan(475);
    await closed.at(-1);
  }
  expect(Number(stub.received[1]?.headers["x-deadline-ms"])).toBeLessThanOrEqual(475);
  // Other clients may join the read.
  expect(Number(stub.received[0]?.headers["x-deadline-ms"])).toBeGreaterThan(475);
  expect(proxy.observed).not.toContainEqual(expect.objectContaining({ kind: "service-failed" }));
});

test("the deadline passes while a response is received to be compressed: 504, and its place is free", async () => {
  const stub = await startStub((request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 100_000 });
    if (request.method === "HEAD") response.end();
    else response.write(" ".repeat(50_000));
  });
  const proxy = await startProxy(stub);
  const head = `${get}\r\nX-Deadline-Ms: 300\r\nAccept-Encoding: gzip`;
  for (const late of [head, head.replace("GET", "HEAD"), `${head}\r\nAuthorization: Bearer t`])
    expect(statusOf(await sendRaw(proxy.port, late))).toBe(504);
  expect(proxy.settled).toHaveLength(3);
});

test("a write whose client disconnects is completed", async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const stub = await startStub((_request, response) => arrived.resolve(response));
  const proxy = await startProxy(stub);
  const client = await openConnection(proxy.port, `${get.replace("GET", "DELETE")}\r\n\r\n`);
  const response = await arrived.promise;
  client.socket.destroy();
  await expect.poll(() => proxy.settled.map(({ status }) => status)).toEqual([499]);
  expect(response.closed).toBe(false);
  const finished = once(response, "finish");
  response.end();
  await finished;
});

test.each([
  [500, "text/html", 500],
  [500, "application/json", 500],
  [502, "text/html", 502],
  [503, "text/plain", 503],
  [404, "text/html", 404],
  [402, "application/json", 402],
  [423, "text/html", 423],
  [499, "text/html", 499],
  [407, "text/html", 502],
  [507, "text/html", 502],
])(
  "an error %s with %s of a service or of an intermediary becomes a problem document with status %s",
  async (status, type, expectedStatus) => {
    const stub = await startStub((_request, response) => {
      const headers = { "Content-Type": type, "Retry-After": "7", "Set-Cookie": "a=b", "Cache-Control": "max-age=60" };
      response.writeHead(status, { ...headers, "X-Debug": "select * from users" }).end("<h1>nginx at 10.0.0.7</h1>");
    });
    const proxy = await startProxy(stub);
    for (const method of ["GET", "DELETE", "HEAD"]) {
      const response = await fetch(`${proxy.url}/v1/things/1`, { method });
      const text = await response.text();
      expect(response.status).toBe(expectedStatus);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("retry-after")).toBe("7");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(JSON.stringify([...response.headers]) + text).not.toMatch(/nginx|10\.0\.0\.7|select|a=b/);
      if (method === "HEAD") continue;
      const requestId = response.headers.get("x-request-id");
      expect(JSON.parse(text)).toMatchObject({ status: expectedStatus, instance: "/v1/things/1", requestId });
    }
    const failed = { kind: "service-failed", service: "things", code: "FOREIGN_ERROR" };
    expect(proxy.observed).toContainEqual(expect.objectContaining(failed));
  },
);

test("the problem document of a service is forwarded unchanged", async () => {
  const problem = '{"type":"/problems/not-found","status":404}';
  const stub = await startStub((_request, response) => {
    response.writeHead(404, { "Content-Type": "application/problem+json; charset=utf-8" }).end(problem);
  });
  const proxy = await startProxy(stub);
  expect(await (await fetch(`${proxy.url}/v1/things/1`)).text()).toBe(problem);
});

test("a 304 is 502 unless the request was conditional", async () => {
  const stub = await startStub((_request, response) => {
    response.removeHeader("Content-Type");
    response.writeHead(304, { ETag: '"1"', "Content-Length": "0" }).end();
  });
  const proxy = await startProxy(stub);
  const send = (method: string, headers = {}) => fetch(`${proxy.url}/v1/things/1`, { method, headers });
  const condition = { "If-None-Match": '"1"' };
  for (const method of ["GET", "HEAD", "DELETE"]) expect((await send(method)).status).toBe(502);
  expect((await send("DELETE", condition)).status).toBe(502);
  // Forwarded with the client's condition, as it is not shared.
  const { status, headers } = await send("HEAD", condition);
  expect([status, headers.get("content-length")]).toEqual([304, null]);
});

test("a 204 has no Content-Length", async () => {
  const raw = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n";
  const proxy = await startProxy(await startRawService(raw));
  for (const method of ["GET", "DELETE"]) {
    const response = await sendRaw(proxy.port, get.replace("GET", method));
    expect(response).toMatch(/^HTTP\/1\.1 204 /);
    expect(response).not.toMatch(/content-length/i);
  }
});

async function growth(port: number, count: () => number): Promise<number> {
  const stage = async () => {
    client.socket.write(`${get}\r\n\r\n`);
    responses += 1;
    await client.until(new RegExp(`(?:"ok":true[^]*){${responses}}`));
    return count();
  };
  let responses = 0;
  const client = await openConnection(port);
  const first = await stage();
  await stage();
  return (await stage()) - first;
}

/** A service that responds to the first bytes of a request with these, or resets the connection, and closes it. */
async function startRawService(bytes: string): Promise<{ readonly url: string }> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => (bytes === "" ? socket.resetAndDestroy() : socket.end(bytes)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const keyed: readonly Route[] = [
  route("getThing", "GET", "/things/:id", { cache: "none" }),
  route("createThing", "POST", "/things", { idempotencyKey: { optional: [1], required: [] } }),
];

test("no read fails when a replica of a service is killed under load, and its ejection is reported", async () => {
  const { stubs, proxy } = await startTwoReplicas();
  let sent = 0;
  const statuses = await load(600, 16, async () => {
    if (++sent === 200) kill(stubs[0]);
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
