import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createClosedLoop } from "./closed-loop.ts";

test("runOnce sends each request once, over the given number of connections", async () => {
  const { port, seen, connectionsMax } = await listen();
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
  const { port, seen } = await listen();
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

/** A server that echoes the request body. */
async function listen() {
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
