import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createClosedLoop } from "./closed-loop.ts";
import { toPost } from "./connection.ts";

test("each request is sent once, over no more connections than told", async () => {
  const { port, seen, connectionsMax } = await listen();
  const loop = createClosedLoop({
    port,
    requests: toPosts(port, ["a", "b", "c", "d", "e"]),
    connections: 2,
    onAnswer: () => {},
  });
  await loop.runOnce();
  loop.close();
  expect(seen.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
  expect(connectionsMax()).toBe(2);
});

test("requests come again in turn until the loop is stopped, and what was sent is answered", async () => {
  const { port, seen } = await listen();
  const answers: number[] = [];
  const enough = Promise.withResolvers<void>();
  const onAnswer = (_: unknown, index: number) => void (answers.push(index) === 7 && enough.resolve());
  const loop = createClosedLoop({ port, requests: toPosts(port, ["a", "b", "c"]), connections: 1, onAnswer });
  loop.run();
  await enough.promise;
  await loop.stop();
  loop.close();
  expect(answers.slice(0, 7)).toEqual([0, 1, 2, 0, 1, 2, 0]);
  expect(seen).toHaveLength(answers.length);
});

test("status, length and latency of an answer are told", async () => {
  const { port } = await listen();
  const told: unknown[] = [];
  const loop = createClosedLoop({
    port,
    requests: toPosts(port, ["abc"]),
    connections: 1,
    onAnswer: (answer) => told.push(answer),
  });
  await loop.runOnce();
  loop.close();
  expect(told).toEqual([{ status: 200, bodyBytes: 3, latencyMs: expect.any(Number) }]);
});

test("a gateway that goes away ends the run, and is not forgotten by the time it is stopped", async () => {
  const server = createServer((request) => request.socket.destroy()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const loop = createClosedLoop({ port, requests: toPosts(port, ["a"]), connections: 1, onAnswer: () => {} });
  await expect(loop.runOnce()).rejects.toThrow("while it was loaded");
  await expect(loop.stop()).rejects.toThrow("while it was loaded");
  loop.close();
});

/** A server that says back what it is told. */
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

const toPosts = (port: number, bodies: readonly string[]) => bodies.map((body) => toPost(port, body));
