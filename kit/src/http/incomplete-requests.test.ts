import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test, vi } from "vitest";
import { createAddressFinder, toAddressKey } from "../caller/client-address.ts";
import { createNetworks } from "../caller/networks.ts";
import { countOpen, sendHalf } from "../testing/half-sent.ts";
import { startTestServer } from "../testing/test-server.ts";
import { createIncompleteRequests } from "./incomplete-requests.ts";
import { type BodyFailure, receiveBody } from "./receive-body.ts";

const head = "POST / HTTP/1.1\r\nHost: a\r\n";
const half = `${head}Content-Length: 2\r\n\r\n{`;

test("half-sent requests of one address take no place from the requests of another", async () => {
  const server = await start({ requestsMax: 50, requestsInFlightMax: 1 });
  const held = await sendHalf({ port: server.port, from: "127.0.0.2", count: 200, bytes: half });
  await expect.poll(() => countOpen(held)).toBe(50);
  expect(server.incompleteRequests.count()).toBe(50);
  expect(server.observe).toHaveBeenCalledTimes(150);
  expect(server.observe).toHaveBeenLastCalledWith({ kind: "connection-closed", reason: "incomplete-requests" });
  for (const body of ["{}", "x".repeat(500_000)]) expect(await post(server.url, body)).toBe(`${body.length}`);
});

test("the address with most loses the slowest of its requests, with a 408 and Connection: close", async () => {
  const server = await start({ requestsMax: 6 });
  const hold = (from: string, count: number, bytes: string) => sendHalf({ port: server.port, from, count, bytes });
  const chunk = `${head}Transfer-Encoding: chunked\r\n\r\n7d0\r\n${"x".repeat(2_000)}\r\n`;
  const few = await hold("127.0.0.3", 2, half);
  const [slow] = await hold("127.0.0.2", 1, half);
  if (!slow) throw new Error("No connection was opened.");
  const response = text(slow);
  await expect.poll(() => server.incompleteRequests.count()).toBe(3);
  const fast = await hold("127.0.0.2", 3, chunk);
  await expect.poll(() => server.incompleteRequests.count()).toBe(6);
  expect(countOpen([...few, slow, ...fast])).toBe(6);
  await hold("127.0.0.4", 1, half);
  expect(await response).toMatch(/^HTTP\/1\.1 408 [^]*\r\nConnection: close\r\n/);
  expect([countOpen(few), countOpen(fast)]).toEqual([2, 3]);
});

test("a slow body below the limits arrives, however many others do", async () => {
  const server = await start({ requestsMax: 100 });
  const [slow] = await sendHalf({ port: server.port, from: "127.0.0.2", count: 1, bytes: half.replace(": 2", ": 20") });
  const others = await sendHalf({ port: server.port, from: "127.0.0.2", count: 40, bytes: half });
  for (let sent = 1; sent < 20; sent++) {
    expect(await post(server.url, "{}")).toBe("2");
    slow?.write("x");
  }
  await expect.poll(() => server.incompleteRequests.count()).toBe(40);
  expect([server.received.at(-1), countOpen(others)]).toEqual(["{" + "x".repeat(19), 40]);
});

test("bodies above bytesMax: the address with most bytes loses its slowest", async () => {
  const server = await start({ bytesMax: 1_000_000 });
  const half400 = `${head}Content-Length: 500000\r\n\r\n${"x".repeat(400_000)}`;
  const few = await sendHalf({ port: server.port, from: "127.0.0.3", count: 30, bytes: half });
  const [first, ...others] = await sendHalf({ port: server.port, from: "127.0.0.2", count: 4, bytes: half400 });
  await expect.poll(() => countOpen([...(first ? [first] : []), ...others])).toBe(2);
  expect(countOpen(few)).toBe(30);
  expect(await post(server.url, "x".repeat(150_000))).toBe("150000");
  expect(server.observe).toHaveBeenLastCalledWith({ kind: "connection-closed", reason: "incomplete-bytes" });
});

test("nothing remains counted of requests that end, are rejected, or whose clients disconnect", async () => {
  const server = await start({ requestsMax: 1_000, bytesMax: 10_000_000 });
  const inChunks = `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`;
  const paused = `${head}Content-Length: 900000\r\n\r\n${"x".repeat(900_000)}`;
  const kinds = [half, inChunks, `${half}}`, paused, `${head}Content-Length: 2000000\r\n\r\n${"x".repeat(1_100_000)}`];
  for (const bytes of kinds) {
    const sockets = await sendHalf({ port: server.port, from: "127.0.0.2", count: 5, bytes });
    if (bytes === half) await expect.poll(() => server.incompleteRequests.count()).toBe(5);
    for (const socket of sockets) socket.resetAndDestroy();
  }
  await expect.poll(() => server.incompleteRequests.count()).toBe(0);
  // All of the budget is free.
  const all = `${head}Content-Length: 1000000\r\n\r\n${"x".repeat(999_999)}`;
  const held = await sendHalf({ port: server.port, from: "127.0.0.2", count: 10, bytes: all });
  await expect.poll(() => held.every(({ writableLength }) => writableLength === 0)).toBe(true);
  expect(await post(server.url, "{}")).toBe("2");
  expect([countOpen(held), server.observe.mock.calls]).toEqual([10, []]);
});

test("a body arrives as it was sent, in chunks of any length", async () => {
  const server = await start({});
  const parts = Array.from({ length: 300 }, (_, index) =>
    String.fromCharCode(97 + (index % 26)).repeat(1 + (index ** 2 % 97)),
  );
  const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  await text(socket);
  expect(server.received).toEqual([parts.join("")]);
});

interface TestOptions {
  readonly requestsMax?: number;
  readonly bytesMax?: number;
  readonly requestsInFlightMax?: number;
}

const statusOf: Record<BodyFailure, number> = { "too-large": 413, cut: 408, disconnected: 400 };

/** A server that responds with the length of each body. */
async function start({ requestsInFlightMax = 1_000, ...limits }: TestOptions) {
  const findAddress = createAddressFinder(createNetworks([]));
  const addressKeyOf: Parameters<typeof createIncompleteRequests>[0]["addressKeyOf"] = (request) =>
    toAddressKey(findAddress(request).address);
  const observe = vi.fn();
  const incompleteRequests = createIncompleteRequests({ addressKeyOf, observe, ...limits });
  const received: string[] = [];
  const handler: RequestListener = (request, response) =>
    receiveBody(request, { bytesMax: 1_000_000, incompleteRequests }, (body) => {
      if (typeof body === "string") {
        response.writeHead(statusOf[body], { Connection: "close" }).end();
      } else {
        received.push(body.toString());
        response.end(`${body.length}`);
      }
    });
  const running = await startTestServer({ handler, shutdownGraceMs: 0, requestsInFlightMax, incompleteRequests });
  return { ...running, incompleteRequests, observe, received };
}

async function post(url: string, body: string): Promise<string> {
  return (await fetch(url, { method: "POST", body })).text();
}
