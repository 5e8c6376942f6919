// The load generator sends each request, reads each response, and reports wrong responses.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createClosedLoop } from "../load/closed-loop.ts";
import { createHttpReader } from "../load/http-reader.ts";
import { type KnownLength, measureLoad } from "./measure-load.ts";

const counted = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
const chunked =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n";
const empty = "HTTP/1.1 204 No Content\r\n\r\n";

test("messages are read in the same way wherever the bytes are split", () => {
  const bytes = counted + chunked + empty;
  for (let size = 1; size <= bytes.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.slice(i * size, (i + 1) * size),
    );
    expect(read(pieces)).toEqual(["200 hello", "200 hello", "204 "]);
  }
});

test("a 304 has no body, even with the Content-Length of the 200 response", () => {
  expect(read([`HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n${counted}`])).toEqual(["304 ", "200 hello"]);
});

test("an incomplete message is not reported", () => {
  expect(read([counted.slice(0, -1)])).toEqual([]);
});

test("runOnce sends each request once, over the given number of connections", async () => {
  const { port, seen, connectionsMax } = await listenEcho();
  const loop = createClosedLoop({
    port,
    requests: toPosts(["a", "b", "c", "d", "e"]),
    connections: 2,
    onResponse: () => {},
  });
  await loop.runOnce();
  loop.close();
  expect(seen.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
  expect(connectionsMax()).toBe(2);
});

test("requests repeat in turn until the loop is stopped, and every sent request gets its response", async () => {
  const { port, seen } = await listenEcho();
  const responses: number[] = [];
  const enough = Promise.withResolvers<void>();
  const onResponse = (_: unknown, index: number) => void (responses.push(index) === 7 && enough.resolve());
  const loop = createClosedLoop({ port, requests: toPosts(["a", "b", "c"]), connections: 1, onResponse });
  loop.run();
  await enough.promise;
  await loop.stop();
  loop.close();
  expect(responses.slice(0, 7)).toEqual([0, 1, 2, 0, 1, 2, 0]);
  expect(seen).toHaveLength(responses.length);
});

test("a lost connection rejects runOnce and a later stop", async () => {
  const server = createServer((request) => request.socket.destroy()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const loop = createClosedLoop({ port, requests: toPosts(["a"]), connections: 1, onResponse: () => {} });
  await expect(loop.runOnce()).rejects.toThrow("under load");
  await expect(loop.stop()).rejects.toThrow("under load");
  loop.close();
});

describe.runIf(process.platform === "linux")("a measurement", () => {
  test("each process has its requests, CPU time and memory", async () => {
    const ports = [
      await listen((_, response) => response.end("abc")),
      await listen((_, response) => response.end("abc")),
    ];
    const report = await measure(ports);
    expect(report.processes).toHaveLength(2);
    for (const { requests, cpuSeconds, rssBytesMax } of report.processes) {
      expect(requests).toBeGreaterThan(10);
      expect(cpuSeconds).toBeGreaterThan(0.01);
      expect(rssBytesMax).toBeGreaterThan(10_000_000);
    }
  });

  test("a response with another status fails the measurement", async () => {
    let responses = 0;
    const port = await listen((_, response) => response.writeHead((responses += 1) === 9 ? 503 : 200).end("abc"));
    await expect(measure([port])).rejects.toThrow("1 wrong responses under load, the first with status 503");
  });

  test("two processes with responses of different lengths fail", async () => {
    const ports = [
      await listen((_, response) => response.end("abc")),
      await listen((_, response) => response.end("a")),
    ];
    await expect(measure(ports)).rejects.toThrow("wrong responses under load, the first with status 200");
  });

  test("a response with the right status and another length than the right response fails the measurement", async () => {
    const port = await listen((_, response) => response.end("rejected"));
    const wrong = measure([port], [{ requestIndex: 0, bodyBytes: 3 }]);
    await expect(wrong).rejects.toThrow("the first with status 200 and 8 bytes instead of 3");
  });
});

/** Returns each complete message as "status body". */
function read(pieces: readonly string[]): readonly string[] {
  const messages: string[] = [];
  let message = "";
  const feed = createHttpReader({
    onHead: (head) => (message = `${head.slice(9, 12)} `),
    onBody: (bytes) => (message += bytes.toString()),
    onEnd: () => messages.push(message),
  });
  for (const piece of pieces) feed(Buffer.from(piece));
  return messages;
}

/** A server that echoes the request body. */
async function listenEcho() {
  const seen: string[] = [];
  let connectionsMax = 0;
  const server = createServer((request, response) => {
    request.once("data", (body: Buffer) => {
      seen.push(body.toString());
      response.end(body);
    });
  });
  server.on("connection", () => (connectionsMax += 1));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, seen, connectionsMax: () => connectionsMax };
}

const toPosts = (bodies: readonly string[]) => bodies.map((body) => ({ path: "/", body }));

function measure(ports: readonly number[], knownLengths: readonly KnownLength[] = []) {
  const times = { warmUpMs: 50, windowMs: 100 };
  const load = {
    requests: [{ path: "/" }],
    primingRequests: [],
    connections: 2,
    order: "in turn",
    probeEveryMs: 0,
  } as const;
  const processes = ports.map((port) => ({ port, pid: process.pid }));
  return measureLoad({ ...load, ...times, processes, expectedStatus: 200, knownLengths }, () => {});
}

/** Resolves with the port. */
async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
