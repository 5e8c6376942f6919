import { text } from "node:stream/consumers";
import { countOpen, sendHalf } from "@tributary/kit/testing/half-sent";
import { expect, test } from "vitest";
import { sendRaw, bodyOf, openConnection, startProxy, startStub, statusOf } from "./testing.ts";

// Bodies of requests. http-proxy-middleware alone streams them: it has no limit, and after a body parser it stalls or serializes the body again.

const expecting =
  "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue";
const chunked =
  "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";

test("a request with Expect: 100-continue reaches the service with the proxy's headers and its body, without Expect", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const client = await openConnection(proxy.port, `${expecting}\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n`);
  expect(await client.until(/\r\n\r\n/)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
  client.socket.write("{}");
  expect(await client.until(/"ok":true/)).toContain("HTTP/1.1 200 OK");
  expect(stub.received[0]).toMatchObject({
    body: "{}",
    headers: { "x-forwarded-for": "127.0.0.1", "content-length": "2" },
  });
  expect(stub.received[0]?.headers["x-request-id"]).toBeDefined();
  expect(stub.received[0]?.headers["expect"]).toBeUndefined();
});

test("a body that would be rejected gets no 100, and its connection is closed", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const [head, status] of [
    [expecting.replace("/v1/things", "/v1/nothing"), 404],
    [expecting.replace("/v1/things", "/v1/things?nope=1"), 400],
    [expecting.replace("Length: 2", "Length: 70000"), 413],
  ] as const) {
    const response = await (await openConnection(proxy.port, `${head}\r\n\r\n`)).closed();
    expect(response).not.toContain("100 Continue");
    expect(statusOf(response)).toBe(status);
    expect(response).toContain("Connection: close");
  }
  expect(stub.received).toEqual([]);
});

test("an unknown expectation is ignored", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const response = await sendRaw(proxy.port, expecting.replace("100-continue", "a-miracle"), "{}");
  expect(statusOf(response)).toBe(200);
  expect(stub.received[0]?.headers["expect"]).toBeUndefined();
});

test("a POST that is read before the middleware arrives complete, with any bytes", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const size of [1, 1_000, 65_536]) {
    const body = Buffer.alloc(size, "\r\n--x\r\n\0ÿ");
    const response = await fetch(`${proxy.url}/v1/things`, {
      method: "POST",
      body,
      headers: { "content-type": "application/octet-stream" },
    });
    expect(response.status).toBe(200);
    expect(stub.received.at(-1)?.body).toBe(body.toString());
    expect(stub.received.at(-1)?.headers["content-length"]).toBe(String(size));
  }
});

test("a body is forwarded byte for byte: duplicate keys, multipart and line breaks unchanged", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const multipart = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';
  for (const [type, body] of [
    ["application/json", '{"a":1,"a":2}'],
    ["multipart/form-data; boundary=x", multipart],
    ["application/x-www-form-urlencoded", "a=1%0d%0a--x&a=2"],
  ] as const) {
    const response = await fetch(`${proxy.url}/v1/things`, { method: "POST", body, headers: { "content-type": type } });
    expect(response.status).toBe(200);
    expect(stub.received.at(-1)).toMatchObject({ body, headers: { "content-type": type } });
  }
});

test("chunked requests are forwarded with a length, on one connection", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await sendTwice(proxy.port);
  expect(new Set(stub.received.map(({ socket }) => socket)).size).toBe(1);
  expect(stub.received[0]).toMatchObject({ body: "{}", headers: { "content-length": "2" } });
  expect(stub.received[0]?.headers["transfer-encoding"]).toBeUndefined();
});

test("a body in a transfer coding other than chunked is rejected, since the service could not decode it", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  for (const coding of ["gzip, chunked", "chunked, chunked"]) {
    const client = await openConnection(proxy.port, chunked.replace("chunked", coding));
    const response = await client.until(/\r\n\r\n\{/);
    expect([statusOf(response), bodyOf(response)["type"]]).toEqual([400, "/problems/malformed-request"]);
  }
  expect(stub.received).toEqual([]);
});

test("a chunked body of no bytes is an empty body", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const client = await openConnection(
    proxy.port,
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  );
  expect(await client.until(/"ok":true/)).toContain("200 OK");
  expect(stub.received[0]).toMatchObject({ body: "", headers: { "content-length": "0" } });
});

test("a POST and a DELETE without a body have Content-Length 0; a GET has none", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  await fetch(`${proxy.url}/v1/things`, { method: "POST" });
  await fetch(`${proxy.url}/v1/things/1`, { method: "DELETE" });
  await fetch(`${proxy.url}/v1/things/1`);
  expect(stub.received.map(({ headers }) => headers["content-length"])).toEqual(["0", "0", undefined]);
});

test("a body over the limit is 413, by its Content-Length or counted, and the connection stays open", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { bodyBytesMax: 1_000 });
  const tooLong = Buffer.alloc(1_001, "x");
  const withLength = `POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n${tooLong.toString()}`;
  const inChunks = `POST /v1/things HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n${tooLong.toString()}\r\n0\r\n\r\n`;
  for (const request of [withLength, inChunks]) {
    const client = await openConnection(proxy.port, request, "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n");
    const responses = await client.until(/"ok":true/);
    expect(statusOf(responses)).toBe(413);
    expect(responses).toContain('"type":"/problems/payload-too-large"');
    expect(responses).toContain("HTTP/1.1 200 OK");
  }
  expect(stub.received.map(({ method }) => method)).toEqual(["GET", "GET"]);
});

test("a sender that does not stop after its 413 is disconnected", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub, { bodyBytesMax: 1_000 });
  const client = await openConnection(
    proxy.port,
    "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n",
  );
  const block = Buffer.alloc(65_536);
  const send = () => {
    while (!client.socket.destroyed && client.socket.write(block));
  };
  client.socket.on("drain", send);
  send();
  expect(statusOf(await client.closed())).toBe(413);
  expect(client.socket.bytesWritten).toBeLessThan(100_000_000);
});

test("a GET with a body is 400: it has no defined meaning", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const response = await sendRaw(proxy.port, "GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2", "{}");
  expect(statusOf(response)).toBe(400);
  expect(stub.received).toEqual([]);
});

test("half-sent writes take nothing from other clients: neither places nor admission", async () => {
  const stub = await startStub();
  let admitted = 0;
  const admission = { onAdmitted: () => void admitted++, onRejected: () => {}, expose: () => {} };
  const limits = { inFlightMax: 1, requestsInFlightMax: 1, admission: true, observers: { admission } };
  const proxy = await startProxy(stub, limits);
  const { port, incompleteRequests } = proxy;
  const [slow] = await sendHalf({ port, from: "127.0.0.3", count: 1, bytes: `${expecting}\r\n\r\n{` });
  const bytes = "POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{";
  const [first, ...held] = await sendHalf({ port, from: "127.0.0.2", count: 720, bytes });
  if (!first || !slow) throw new Error("No connection was opened.");
  const rejection = text(first);
  await expect.poll(() => incompleteRequests.count()).toBe(721);
  for (const from of ["127.0.0.4", "127.0.0.5"]) held.push(...(await sendHalf({ port, from, count: 690, bytes })));
  await expect.poll(() => proxy.observed.length).toBe(53);
  await expect.poll(() => countOpen(held)).toBe(2_047);
  expect([incompleteRequests.count(), countOpen([slow]), admitted]).toEqual([2_048, 1, 0]);
  expect(new Set(proxy.observed.map((observation) => JSON.stringify(observation)))).toEqual(
    new Set(['{"kind":"connection-closed","reason":"incomplete-requests"}']),
  );
  expect(statusOf(await rejection)).toBe(408);
  expect(await rejection).toContain("Connection: close");
  expect(bodyOf(await rejection)).toMatchObject({ type: "/problems/request-timeout" });

  expect((await fetch(`${proxy.url}/v1/things/1`)).status).toBe(200);
  for (const _ of [1, 2]) {
    expect((await fetch(`${proxy.url}/v1/things`, { method: "POST", body: "{}" })).status).toBe(200);
  }
  slow.write("}");
  await expect.poll(() => stub.received.length).toBe(4);
  expect(stub.received.at(-1)?.body).toBe("{}");
});

test("a client that disconnects within its body affects no other request", async () => {
  const stub = await startStub();
  const proxy = await startProxy(stub);
  const slow = await openConnection(proxy.port, `${expecting}\r\n\r\n`);
  await slow.until(/100 Continue/);
  slow.socket.destroy();
  await expect.poll(() => proxy.settled).toMatchObject([{ status: 499 }]);
  expect(proxy.incompleteRequests.count()).toBe(0);
  expect((await fetch(`${proxy.url}/v1/things`, { method: "POST", body: "{}" })).status).toBe(200);
  expect(stub.received).toHaveLength(1);
});

async function sendTwice(port: number): Promise<void> {
  for (const _ of [1, 2]) await (await openConnection(port, chunked)).until(/"ok":true/);
}
