import { createServer } from "node:http";
import express from "express";
import { createProxyMiddleware, fixRequestBody } from "http-proxy-middleware";
import { expect, test } from "vitest";
import { ask, bodyOfText, listen, speak, startBare, startProxy, startStub, statusOfText } from "./testing.ts";

// Each trap of http-proxy-middleware is first shown on the middleware as it comes, so that the test about ours proves something.

const expecting =
  "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue";
const chunked =
  "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";

test("control: Expect: 100-continue makes the middleware skip on.proxyReq", async () => {
  const stub = await startStub();
  const on = {
    proxyReq: (upstream: { setHeader(name: string, value: string): void }) => upstream.setHeader("x-set", "yes"),
  };
  const bare = await startBare({ target: stub.url, on });
  await ask(bare.port, expecting.replace("\r\nExpect: 100-continue", ""), "{}");
  await ask(bare.port, expecting, "{}");
  expect(stub.seen.map(({ headers }) => headers["x-set"])).toEqual(["yes", undefined]);
});

test("a request that expects 100-continue gets our headers, its body, and no expectation at the service", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const client = await speak(proxy.port, `${expecting}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`);
  expect(await client.until(/\r\n\r\n/)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  client.socket.write("{}");
  expect(await client.until(/"ok":true/)).toContain("HTTP/1.1 200 OK");
  expect(stub.seen[0]).toMatchObject({
    body: "{}",
    headers: { "x-forwarded-for": "127.0.0.1", "content-length": "2" },
  });
  expect(stub.seen[0]?.headers["x-request-id"]).toBeDefined();
  expect(stub.seen[0]?.headers["expect"]).toBeUndefined();
});

test("a body that would be refused is not invited, and its connection ends", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const [head, status] of [
    [expecting.replace("/v1/things", "/v1/nothing"), 404],
    [expecting.replace("/v1/things", "/v1/things?nope=1"), 400],
    [expecting.replace("Length: 2", "Length: 70000"), 413],
  ] as const) {
    const answer = await (await speak(proxy.port, `${head}\r\n\r\n`)).closed();
    expect(answer).not.toContain("100 Continue");
    expect(statusOfText(answer)).toBe(status);
    expect(answer).toContain("Connection: close");
  }
  expect(stub.seen).toEqual([]);
});

test("an expectation that nobody knows is ignored", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const answer = await ask(proxy.port, expecting.replace("100-continue", "a-miracle"), "{}");
  expect(statusOfText(answer)).toBe(200);
  expect(stub.seen[0]?.headers["expect"]).toBeUndefined();
});

test("control: a body parser before the middleware stalls a POST", async () => {
  const stub = await startStub();
  const app = express();
  app.use(express.json(), createProxyMiddleware({ target: stub.url, proxyTimeout: 100 }));
  const server = await listen(createServer(app));
  const { port } = server.address() as { port: number };
  const answer = await ask(
    port,
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2",
    "{}",
  );
  expect(statusOfText(answer)).toBe(504);
  expect(stub.seen).toEqual([]);
});

test("a POST that we read before the middleware arrives whole, whatever its bytes", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const size of [1, 1_000, 65_536]) {
    const body = Buffer.alloc(size, "\r\n--x\r\n\0ÿ");
    const answer = await fetch(`${proxy.url}/v1/things`, {
      method: "POST",
      body,
      headers: { "content-type": "application/octet-stream" },
    });
    expect(answer.status).toBe(200);
    expect(stub.seen.at(-1)?.body).toBe(body.toString());
    expect(stub.seen.at(-1)?.headers["content-length"]).toBe(String(size));
  }
});

test("control: the middleware's own cure writes a body anew (the home of GHSA-gcq2-9pq2-cxqm)", async () => {
  const stub = await startStub();
  const app = express();
  app.use(express.json(), createProxyMiddleware({ target: stub.url, on: { proxyReq: fixRequestBody } }));
  const server = await listen(createServer(app));
  const { port } = server.address() as { port: number };
  await ask(
    port,
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 13",
    '{"a":1,"a":2}',
  );
  expect(stub.seen[0]?.body).toBe('{"a":2}');
});

test("a body is passed on byte for byte: duplicate keys, multipart and line breaks as they came", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const multipart = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';
  for (const [type, body] of [
    ["application/json", '{"a":1,"a":2}'],
    ["multipart/form-data; boundary=x", multipart],
    ["application/x-www-form-urlencoded", "a=1%0d%0a--x&a=2"],
  ] as const) {
    const answer = await fetch(`${proxy.url}/v1/things`, { method: "POST", body, headers: { "content-type": type } });
    expect(answer.status).toBe(200);
    expect(stub.seen.at(-1)).toMatchObject({ body, headers: { "content-type": type } });
  }
});

test("control: chunked requests cost the middleware its connection to the service", async () => {
  const stub = await startStub();
  const bare = await startBare({ target: stub.url });
  await askTwice(bare.port);
  expect(new Set(stub.seen.map(({ socket }) => socket)).size).toBe(2);
  expect(stub.seen.map(({ headers }) => headers.connection)).toEqual(["close", "close"]);
});

test("chunked requests go to the service with a length, on one connection", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await askTwice(proxy.port);
  expect(new Set(stub.seen.map(({ socket }) => socket)).size).toBe(1);
  expect(stub.seen[0]).toMatchObject({ body: "{}", headers: { "content-length": "2" } });
  expect(stub.seen[0]?.headers["transfer-encoding"]).toBeUndefined();
});

test.each(["gzip, chunked", "chunked, chunked"])(
  "a body in %s is refused, for nobody would unpack it",
  async (coding) => {
    const stub = await startStub();
    const proxy = await startProxy(stub);
    const client = await speak(proxy.port, chunked.replace("chunked", coding));
    const answer = await client.until(/\r\n\r\n\{/);
    expect([statusOfText(answer), bodyOfText(answer)["type"]]).toEqual([400, "/problems/malformed-request"]);
    expect(stub.seen).toEqual([]);
  },
);

test("a chunked body without a byte in it is an empty body", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const client = await speak(
    proxy.port,
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  );
  expect(await client.until(/"ok":true/)).toContain("200 OK");
  expect(stub.seen[0]).toMatchObject({ body: "", headers: { "content-length": "0" } });
});

test("a POST and a DELETE without a body say length 0; a GET says none", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await fetch(`${proxy.url}/v1/things`, { method: "POST" });
  await fetch(`${proxy.url}/v1/things/1`, { method: "DELETE" });
  await fetch(`${proxy.url}/v1/things/1`);
  expect(stub.seen.map(({ headers }) => headers["content-length"])).toEqual(["0", "0", undefined]);
});

test("control: the middleware passes on a body of any size", async () => {
  const stub = await startStub();
  const bare = await startBare({ target: stub.url });
  await fetch(`${bare.url}/v1/things`, { method: "POST", body: Buffer.alloc(200_000) });
  expect(stub.seen[0]?.body).toHaveLength(200_000);
});

test("a body over the limit is 413, said by its length or counted, and its sender can go on", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { bodyBytesMax: 1_000 });
  const tooLong = Buffer.alloc(1_001, "x");
  const withLength = `POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n${tooLong.toString()}`;
  const inChunks = `POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n${tooLong.toString()}\r\n0\r\n\r\n`;
  for (const request of [withLength, inChunks]) {
    const client = await speak(proxy.port, request, "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n");
    const answers = await client.until(/"ok":true/);
    expect(statusOfText(answers)).toBe(413);
    expect(answers).toContain('"type":"/problems/payload-too-large"');
    expect(answers).toContain("HTTP/1.1 200 OK");
  }
  expect(stub.seen.map(({ method }) => method)).toEqual(["GET", "GET"]);
});

test("a sender that goes on for ever after its 413 is cut off", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { bodyBytesMax: 1_000 });
  const client = await speak(proxy.port, "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
  const block = Buffer.alloc(65_536);
  const send = () => {
    while (!client.socket.destroyed && client.socket.write(block));
  };
  client.socket.on("drain", send);
  send();
  expect(statusOfText(await client.closed())).toBe(413);
  expect(client.socket.bytesWritten).toBeLessThan(100_000_000);
});

test("a GET with a body is 400: nobody agrees on what it means", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const answer = await ask(proxy.port, "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2", "{}");
  expect(statusOfText(answer)).toBe(400);
  expect(stub.seen).toEqual([]);
});

test("slow bodies take no place at a service, and are bounded in number", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { bodiesInFlightMax: 1, inFlightMax: 1 });
  const slow = await speak(proxy.port, `${expecting}\r\n\r\n`);
  await slow.until(/100 Continue/);
  expect((await fetch(`${proxy.url}/v1/things/1`)).status).toBe(200);
  const refused = await fetch(`${proxy.url}/v1/things`, { method: "POST", body: "{}" });
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  slow.socket.write("{}");
  expect(await slow.until(/"ok":true/)).toContain("200 OK");
  expect((await fetch(`${proxy.url}/v1/things`, { method: "POST", body: "{}" })).status).toBe(200);
});

test("a client that leaves in the middle of its body takes nothing with it", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { bodiesInFlightMax: 1 });
  const slow = await speak(proxy.port, `${expecting}\r\n\r\n`);
  await slow.until(/100 Continue/);
  slow.socket.destroy();
  await expect.poll(() => proxy.settled).toMatchObject([{ status: 499 }]);
  expect((await fetch(`${proxy.url}/v1/things`, { method: "POST", body: "{}" })).status).toBe(200);
  expect(stub.seen).toHaveLength(1);
});

async function askTwice(port: number): Promise<void> {
  for (const _ of [1, 2]) await (await speak(port, chunked)).until(/"ok":true/);
}
