import { once } from "node:events";
import { Agent, get, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { type RunningServer, type ServerOptions, startServer } from "./lifecycle.ts";
import { type Log, silentLog } from "./log.ts";
import type { ProcessState } from "./process-status.ts";

const running: RunningServer[] = [];
const hourMs = 3_600_000;
afterEach(async () => {
  vi.useRealTimers();
  const drained = Promise.all(running.splice(0).map((server) => server.drain()));
  // After a failed test a drain may wait for a fake timer.
  await Promise.race([drained, sleep(5_000, undefined, { ref: false })]);
});

test("a process is live from the start, and ready when its check passes", async () => {
  let ready = false;
  const { url } = await start({ isReady: () => ready });
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
  ready = true;
  expect(await (await fetch(`${url}/health/ready`)).json()).toEqual({ status: "ready" });
  expect((await fetch(`${url}/health/other`)).status).toBe(404);
});

test("the readiness response has the current version, the liveness response has not", async () => {
  const served = ["a", "b"];
  const { url } = await start({ readinessFields: () => ({ supergraph: served.shift() ?? "none" }) });
  const read = async (name: string) => (await fetch(`${url}/health/${name}`)).json();
  expect(await read("ready")).toEqual({ status: "ready", supergraph: "a" });
  expect(await read("live")).toEqual({ status: "live" });
  expect(await read("ready")).toEqual({ status: "ready", supergraph: "b" });
});

test.runIf(process.platform === "linux")(
  "a process accepts several connections in one iteration of the event loop, and drains all of them",
  async () => {
    let accepted = 0;
    let acceptedAtOnce = 0;
    const prepare = (server: Server) => void server.on("connection", () => accepted++);
    const server = await start({ prepare });
    const sockets = Array.from({ length: 200 }, () => connect(server.port, "127.0.0.1"));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    while (accepted < sockets.length) {
      const before = accepted;
      await new Promise(setImmediate);
      acceptedAtOnce = Math.max(acceptedAtOnce, accepted - before);
    }
    expect(acceptedAtOnce).toBeGreaterThan(3);
    const closed = sockets.map((socket) => once(socket.resume(), "close"));
    await server.drain();
    await Promise.all(closed);
    // Each of the sockets that listened: Linux would divide these among those that still do.
    const later = Array.from({ length: 50 }, () => once(connect(server.port, "127.0.0.1"), "connect"));
    for (const { status } of await Promise.allSettled(later)) expect(status).toBe("rejected");
  },
);

test("a readiness check that throws is not ready", async () => {
  const { url } = await start({ isReady: () => Promise.reject(new Error("no database")) });
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
});

test.each<[string, () => ProcessState | Promise<ProcessState>]>([
  ["throws", () => raise()],
  ["rejects", () => Promise.resolve().then(raise)],
])(
  "a state that cannot be read, since its reader %s, is 500 and logged, and the process goes on",
  async (_, readState) => {
    const error = vi.fn<Log["error"]>();
    const { url } = await start({ readState, servesStatus: true, log: { ...silentLog, error } });
    const response = await fetch(`${url}/health/status`);
    expect([response.status, await response.json()]).toEqual([500, { status: "failed" }]);
    expect(error).toHaveBeenCalledExactlyOnceWith({ err: new Error("gone") }, expect.any(String));
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  },
);

function raise(): never {
  throw new Error("gone");
}

// Gateway and REST proxy turn Node's own check off: it responds without a body.
test.each([
  ["Node checks Host", () => {}],
  ["Node does not check Host", (server: Server) => void Object.assign(server, { requireHostHeader: false })],
])(
  "a health check in HTTP/1.1 has one Host, of any value; in HTTP/1.0 none is needed (RFC 9112, 3.2): %s",
  async (_, prepare) => {
    const { port } = await start({ prepare });
    const statusOf = async (head: string) => (await sendRaw(port, `${head}Connection: close\r\n\r\n`)).slice(0, 12);
    for (const path of ["/health/live", "/health/ready", "/health/other"]) {
      expect(await statusOf(`GET ${path} HTTP/1.1\r\n`)).toBe("HTTP/1.1 400");
      expect(await statusOf(`GET ${path} HTTP/1.1\r\nHost: a\r\nhost: a\r\n`)).toBe("HTTP/1.1 400");
    }
    for (const host of ["10.0.0.7:4000", "", "-"]) {
      expect(await statusOf(`GET /health/live HTTP/1.1\r\nHost: ${host}\r\n`)).toBe("HTTP/1.1 200");
    }
    expect(await statusOf("GET /health/live HTTP/1.0\r\n")).toBe("HTTP/1.1 200");
    expect(await statusOf("GET /health/live HTTP/1.0\r\nHost: a\r\nHost: b\r\n")).toBe("HTTP/1.1 400");
  },
);

test("the error for a port in use names it", async () => {
  const { port } = await start({});
  await expect(start({ port })).rejects.toThrow(`port ${port} on 127.0.0.1 is in use`);
});

test("while draining, readiness is 503 and requests are served, with Connection: close", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  let closed = 0;
  const server = await start({ drainDelayMs: hourMs, close: async () => void closed++ });
  const agent = new Agent({ keepAlive: true });
  expect((await request(`${server.url}/x`, agent)).headers.connection).toBe("keep-alive");
  const drained = server.drain();
  const late = await request(`${server.url}/x`, agent);
  expect([late.statusCode, late.headers.connection]).toEqual([200, "close"]);
  expect((await fetch(`${server.url}/health/ready`)).status).toBe(503);
  expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
  await vi.advanceTimersByTimeAsync(hourMs);
  await Promise.all([drained, server.drain()]);
  expect(closed).toBe(1);
  await expect(fetch(`${server.url}/x`)).rejects.toThrow("fetch failed");
});

test("a response to a request from before draining has Connection: close, however its head is written", async () => {
  const arrived: ServerResponse[] = [];
  const all = Promise.withResolvers<void>();
  const handler = (_: IncomingMessage, response: ServerResponse) =>
    void (arrived.push(response) === 2 && all.resolve());
  const server = await start({ handler, drainDelayMs: 50 });
  const agent = new Agent({ keepAlive: true });
  const responses = Promise.all([request(server.url, agent), request(server.url, agent)]);
  await all.promise;
  const drained = server.drain();
  await expect.poll(() => fetch(`${server.url}/health/live`).catch(() => "no listener")).toBe("no listener");
  arrived[0]?.writeHead(200, ["Content-Length", "2"]).end("ok");
  arrived[1]?.setHeader("Content-Length", 2).end("ok");
  expect((await responses).map(({ headers }) => headers.connection)).toEqual(["close", "close"]);
  await drained;
});

test("a connection that is idle when the listener closes may send one more request while another is busy", async () => {
  const slow = Promise.withResolvers<ServerResponse>();
  const handler = ({ url }: IncomingMessage, response: ServerResponse) =>
    url === "/slow" ? slow.resolve(response) : void response.end("hello");
  const server = await start({ handler });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await request(`${server.url}/x`, agent);
  const busy = request(`${server.url}/slow`, new Agent());
  const response = await slow.promise;
  const drained = server.drain();
  await expect.poll(() => fetch(`${server.url}/health/live`).catch(() => "no listener")).toBe("no listener");
  expect((await request(`${server.url}/x`, agent)).headers.connection).toBe("close");
  response.end("done");
  await Promise.all([busy, drained]);
});

test("the response to a request that becomes complete after the listener has closed is sent completely", async () => {
  const body = Buffer.alloc(30_000_000);
  const handler = (request: IncomingMessage, response: ServerResponse) =>
    void request.resume().on("end", () => response.end(body));
  const server = await start({ handler, shutdownGraceMs: hourMs });
  const client = connect(server.port, "127.0.0.1").pause();
  client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1");
  await once(client, "connect");
  await sleep(100);
  const drained = server.drain();
  await expect.poll(() => fetch(`${server.url}/health/live`).catch(() => "no listener")).toBe("no listener");
  client.write("2");
  // Longer than a connection with an incomplete request remains open.
  await sleep(1_500);
  const received = (await text(client)).length;
  await drained;
  expect(received).toBeGreaterThan(body.length);
});

test("no request of a client that keeps connections fails while a server is replaced under load", async () => {
  const handler = (_: IncomingMessage, response: ServerResponse) => void setTimeout(() => response.end("hello"), 100);
  const servers = [await start({ handler, drainDelayMs: 500 }), await start({ handler })] as const;
  let ready = servers[0].port;
  // As a load balancer does: open connections remain, new ones go to the server that is ready. Each is used again within the delay: a request on one
  // that the server closes, because it was idle for longer, can fail.
  const options = { keepAlive: true, scheduling: "fifo" } as const;
  const agent = Object.assign(new Agent(options), { createConnection: () => connect(ready, "127.0.0.1") });
  const outcomes: Promise<unknown>[] = [];
  const arrivals = setInterval(
    () => outcomes.push(request("http://127.0.0.1/", agent).then(({ statusCode }) => statusCode, String)),
    2,
  );
  await expect.poll(() => Object.values(agent.freeSockets).flat().length).toBeGreaterThan(0);
  const drained = servers[0].drain();
  ready = servers[1].port;
  await drained;
  clearInterval(arrivals);
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set([200]));
});

test("requests beyond requestsInFlightMax are a 503 with Retry-After, and health checks are served", async () => {
  const pending: ServerResponse[] = [];
  const onOverloaded = vi.fn();
  const { url } = await start({
    requestsInFlightMax: 2,
    onOverloaded,
    handler: (_, response) => void pending.push(response),
  });
  const served = [fetch(url), fetch(url)];
  await expect.poll(() => pending.length).toBe(2);
  const rejected = await fetch(url);
  expect(rejected.status).toBe(503);
  expect(rejected.headers.get("retry-after")).toBe("1");
  expect(await rejected.json()).toMatchObject({ type: "/problems/service-unavailable", status: 503 });
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
  expect(onOverloaded).toHaveBeenCalledOnce();
  for (const response of pending) response.end();
  for (const { status } of await Promise.all(served)) expect(status).toBe(200);
});

test.each(["/health/live", "/rejected", "/overload"])(
  "the rest of a body that the response to %s leaves unread is read slowly",
  async (path) => {
    const sockets: Socket[] = [];
    const { port } = await start({
      requestsInFlightMax: path === "/overload" ? 0 : 1,
      handler: (_, response) => response.writeHead(404).end(),
      prepare: (server) => void server.on("connection", (socket) => sockets.push(socket)),
    });
    const client = connect(port, "127.0.0.1");
    client.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n`);
    const flood = () => {
      while (client.write(Buffer.alloc(1_048_576)));
    };
    client.on("drain", flood);
    flood();
    await once(client, "data");
    await sleep(500);
    expect(sockets[0]?.bytesRead).toBeLessThan(5_000_000);
    client.destroy();
  },
);

test("a request in flight is completed before the process closes", async () => {
  const order: string[] = [];
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = await start({
    handler: (_, response) => arrived.resolve(response),
    close: async () => void order.push("closed"),
  });
  const received = fetch(server.url).then((response) => order.push(`response ${response.status}`));
  const response = await arrived.promise;
  const drained = server.drain();
  response.end("done");
  await Promise.all([received, drained]);
  expect(order.sort()).toEqual(["closed", "response 200"]);
});

const whole = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const post = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n";
const respondAtEnd = (request: IncomingMessage, response: ServerResponse) =>
  void request.resume().on("end", () => response.end("done"));

test("connections without a complete request do not delay the stop once all complete requests have their responses", async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const handler: RequestListener = (request, response) =>
    request.url === "/slow" ? arrived.resolve(response) : respondAtEnd(request, response);
  const server = await start({ handler, shutdownGraceMs: 24 * hourMs });
  for (const bytes of ["", "\r\n", "GET /x HT", post, `${post}\r\n`, `${post}\r\n1`, `${whole}GET`]) {
    await open(server.port, bytes);
  }
  const inFlight = request(`${server.url}/slow`, new Agent());
  const response = await arrived.promise;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const events: string[] = [];
  const drained = server.drain().then(() => events.push("stopped"));
  await vi.advanceTimersByTimeAsync(hourMs);
  expect(events).toEqual([]);
  response.end("done");
  expect((await inFlight).statusCode).toBe(200);
  for (let seconds = 0; seconds < 3_600 && events.length === 0; seconds++) await vi.advanceTimersByTimeAsync(1_000);
  expect(events).toEqual(["stopped"]);
  await drained;
});

test("a request whose rest arrives soon after the listener has closed gets its response", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const server = await start({ handler: respondAtEnd, shutdownGraceMs: hourMs });
  const parts = [
    ["", whole],
    ["POST", post.slice(4) + "\r\n12"],
    [`${post}\r\n1`, "2"],
  ] as const;
  const clients = await Promise.all(parts.map(([first]) => open(server.port, first)));
  const drained = server.drain();
  for (const [index, [, rest]] of parts.entries()) clients[index]?.write(rest);
  for (const client of clients) expect(await text(client)).toContain("200 OK");
  await drained;
});

test("a request that became complete in that time gets its response however long it takes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const arrived = Promise.withResolvers<ServerResponse>();
  const handler: RequestListener = (request, response) =>
    void request.resume().on("end", () => arrived.resolve(response));
  const server = await start({ handler, shutdownGraceMs: hourMs });
  const [complete, incomplete] = [await open(server.port, `${post}\r\n`), await open(server.port, `${post}\r\n`)];
  const drained = server.drain();
  complete.write("12");
  const response = await arrived.promise;
  await vi.advanceTimersByTimeAsync(hourMs / 2);
  response.end("done");
  expect(await text(complete)).toContain("200 OK");
  expect(await text(incomplete)).toBe("");
  await drained;
});

test("a request that takes longer than the grace period is aborted", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await start({ handler: () => arrived.resolve(), shutdownGraceMs: 50 });
  const pending = fetch(server.url);
  await arrived.promise;
  await Promise.all([expect(pending).rejects.toThrow("fetch failed"), server.drain()]);
});

async function start(o: Partial<ServerOptions>): Promise<RunningServer> {
  const server = await startServer({
    name: "test",
    handler: (_, response) => void response.end("hello"),
    host: "127.0.0.1",
    port: 0,
    log: silentLog,
    isReady: () => true,
    close: async () => {},
    drainDelayMs: 0,
    shutdownGraceMs: 1_000,
    ...o,
  });
  running.push(server);
  return server;
}

function request(url: string, agent: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume().on("end", () => resolve(response));
    }).on("error", reject);
  });
}

/** Sends bytes and resolves with the whole response once the server has closed the connection. */
function sendRaw(port: number, bytes: string): Promise<string> {
  return text(connect(port, "127.0.0.1").end(bytes));
}

/** A connection that the server has accepted and that has sent these bytes. */
async function open(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(bytes);
  await fetch(`http://127.0.0.1:${port}/health/live`);
  return socket;
}
