import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { countOpen, sendHalf } from "../testing/half-sent.ts";
import { limitConnections } from "./connection-limit.ts";

test("one address has a limited number of connections, also of those whose head is half-sent; a trusted proxy has not", async () => {
  const { port, observe } = await start(["127.0.0.9"]);
  const open = (from: string, bytes: string) => sendHalf({ port, from, count: 30, bytes });
  const sockets = await open("127.0.0.2", "GET / HT");
  await expect.poll(() => countOpen(sockets)).toBe(20);
  expect(observe).toHaveBeenCalledTimes(10);
  expect(observe).toHaveBeenLastCalledWith({ kind: "connection-closed", reason: "connections-of-address" });
  const proxied = await open("127.0.0.9", "GET / HT");
  expect(await get(port, "127.0.0.3")).toContain("200 OK");
  expect(countOpen(proxied)).toBe(30);

  sockets.find(({ readableEnded }) => !readableEnded)?.destroy();
  await expect.poll(() => get(port, "127.0.0.2")).toContain("200 OK");
});

async function start(unlimited: readonly string[]) {
  const observe = vi.fn();
  const server = createServer((_, response) => response.end("hello"));
  limitConnections(server, { unlimited, observe, perAddressMax: 20 });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return { port: address.port, observe };
}

function get(port: number, from: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  return text(socket).catch(String);
}
