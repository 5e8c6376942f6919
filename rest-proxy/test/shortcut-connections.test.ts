import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Asked, converse, converseWell, head, routes, start } from "./conversation.ts";
import { startProxy, startStub } from "./testing.ts";

test("a request that comes in two pieces, cut anywhere, is one request; what follows it is another", async () => {
  const { port, asked } = await start();
  const bytes = `${head}X-Request-Id: cut\r\n\r\n`;
  await (await converse(port)).ask(bytes);
  for (let at = 1; at < bytes.length; at += 1) {
    const line = await converse(port);
    await line.ask(bytes);
    await line.ask(bytes);
    line.socket.write(bytes.slice(0, at));
    await sleep(2);
    const answers = [await line.ask(bytes.slice(at)), await line.ask(bytes)];
    for (const answer of answers) expect(answer).toContain("200 OK");
    expect(line.rest()).toBe("");
    line.socket.destroy();
  }
  expect(asked()).toBe(1);
});

test("bytes that look like a request within another's head or body are no request", async () => {
  const { port, byNode } = await start();
  const hidden = "GET /v1/things/22 HTTP/1.1\r\nHost: a\r\n\r\n";
  await (await converse(port)).ask(hidden);
  // The value of a field, begun in one packet, goes on in the next as a whole request.
  const inHead = await converseWell(port);
  inHead.socket.write(`${head}X-A: `);
  await sleep(20);
  expect(await inHead.ask(hidden)).toMatch(/"\/rest\/v1\/things\/1"|400 Bad Request/);
  await sleep(20);
  expect(inHead.rest()).toBe("");
  // A body, announced in one packet and sent in the next.
  const inBody = await converseWell(port);
  inBody.socket.write(`POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: ${2 * hidden.length}\r\n\r\n`);
  await sleep(20);
  inBody.socket.write(hidden);
  await sleep(20);
  expect(inBody.rest()).toBe("");
  expect(await inBody.ask(hidden)).toContain('"/rest/v1/things"');
  // And the connection is known again after it.
  const before = byNode();
  expect(await inBody.ask(hidden)).toContain('"/rest/v1/things/22"');
  expect(byNode()).toBe(before);
  expect(inBody.rest()).toBe("");
});

test("a body that nobody wanted to the end is not taken for requests", async () => {
  const { port } = await start({ bodyBytesMax: 10 });
  const hidden = "GET /v1/things/22 HTTP/1.1\r\nHost: a\r\n\r\n";
  await (await converse(port)).ask(hidden);
  const line = await converseWell(port);
  const refused = await line.ask(`POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n`);
  expect(refused).toContain("413 ");
  line.socket.write(hidden);
  await sleep(50);
  expect(line.rest()).toBe("");
});

test("requests that are sent in one go are answered by Node in their order, as is all that follows them", async () => {
  const { port, byNode } = await start();
  const line = await converseWell(port);
  await line.ask("GET /v1/things/22 HTTP/1.1\r\nHost: a\r\n\r\n");
  line.socket.write(`${head}\r\nGET /v1/things/22 HTTP/1.1\r\nHost: a\r\n\r\n${head}\r\n`);
  const answers = [await line.next(), await line.next(), await line.next()];
  expect(answers.map((one) => /"url":"([^"]+)"/.exec(one)?.[1])).toEqual([
    "/rest/v1/things/1",
    "/rest/v1/things/22",
    "/rest/v1/things/1",
  ]);
  await line.ask(`${head}\r\n`);
  expect(byNode()).toBe(8);
});

test("a copy waits for what was asked for before it on its connection", async () => {
  const { port } = await start();
  const line = await converseWell(port);
  line.socket.write("GET /v1/things/1/own HTTP/1.1\r\nHost: a\r\n\r\n");
  await sleep(5);
  expect(await line.ask(`${head}\r\n`)).toContain('"/rest/v1/things/1/own"');
  expect(await line.next()).toContain('"/rest/v1/things/1"');
});

test("a connection that gets nothing but copies outlives the time for a head", async () => {
  const { port, byNode } = await start({ headersTimeoutMs: 400, requestTimeoutMs: 500 });
  const line = await converse(port);
  for (let at = 0; at < 30; at++) {
    expect(await line.ask(`${head}\r\n`)).toContain("200 OK");
    await sleep(100);
  }
  expect(byNode()).toBe(3);
});

test("a head that is begun after copies and not ended is cut like any other", async () => {
  const { port } = await start({ headersTimeoutMs: 400, requestTimeoutMs: 500 });
  const line = await converseWell(port);
  await line.ask(`${head}\r\n`);
  expect(await line.ask("GET /v1/thi")).toContain("408 ");
});

test("from the first moment of draining each answer ends its connection", async () => {
  const { port, drain } = await start({ drainDelayMs: 300 });
  const line = await converseWell(port);
  expect(await line.ask(`${head}\r\n`)).toContain("Connection: keep-alive");
  const drained = drain();
  expect(await line.ask(`${head}\r\n`)).toContain("Connection: close");
  await drained;
});

test("what is stored of another status than 200 goes by Node", async () => {
  const stub = await startStub((_seen, response) => {
    response
      .writeHead(404, {
        "Cache-Control": "public, max-age=100",
        "Content-Type": "application/json",
        "Content-Length": 2,
      })
      .end("{}");
  });
  const proxy = await startProxy(stub, { routes });
  let byNode = 0;
  proxy.server.on("request", () => byNode++);
  const line = await converse(proxy.port);
  for (let at = 0; at < 5; at++) expect(await line.ask(`${head}\r\n`)).toContain("404 Not Found");
  expect([byNode, stub.seen.length]).toEqual([5, 1]);
});

/** Asks for copies, without reading, until an answer does not leave the process any more. */
async function fillUp(proxy: Asked) {
  const { port, server } = proxy;
  const waiting: { writableLength: number }[] = [];
  server.on("connection", (socket) => waiting.push(socket));
  const line = await converseWell(port);
  line.socket.pause();
  let asked = 0;
  while (waiting.every(({ writableLength }) => writableLength === 0)) {
    line.socket.write(`${head}\r\n`);
    asked++;
    await sleep(1);
  }
  expect(proxy.byNode()).toBe(3);
  return { ...line, asked };
}

test("an answer that its client has not read yet is not cut off by draining", async () => {
  const proxy = await start({}, "y".repeat(15_000));
  const { socket, next, asked } = await fillUp(proxy);
  const drained = proxy.drain();
  await sleep(300);
  socket.resume();
  for (let at = 0; at < asked; at++) expect(await next()).toMatch(/y"\}$/);
  await drained;
});

test("who does not read a copy in time is cut, and it is told", async () => {
  const proxy = await start({ responseTimeoutMs: 300 }, "y".repeat(15_000));
  const { socket } = await fillUp(proxy);
  await expect
    .poll(() => proxy.observed)
    .toMatchObject([
      { kind: "answer-cut", reason: "GATEWAY_TIMEOUT", route: "/things/:id", path: "/v1/things/1", method: "GET" },
    ]);
  socket.resume();
  await expect.poll(() => socket.destroyed || socket.readableEnded).toBe(true);
});

test("who asks and does not read is not answered into memory", async () => {
  const { port, server } = await start({}, "y".repeat(15_000));
  const sockets: { writableLength: number }[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const { socket } = await converseWell(port);
  socket.pause();
  // Some 20 MB of answers, more than the system takes for one connection.
  for (let at = 0; at < 1_500; at++) {
    socket.write(`${head}\r\n`);
    await sleep(1);
  }
  // Beside what the system holds: one answer of ours, and what Node lets pile up before it stops reading.
  expect(Math.max(...sockets.map(({ writableLength }) => writableLength))).toBeLessThan(200_000);
});
