import { expect, test } from "vitest";
import { createSpanCollector } from "../../src/testing/trace.ts";
import type { UpstreamRequest } from "../../src/upstream/upstream.ts";
import { holdResponse, start, startNonsense, reset, respondOk, respondUnavailable } from "./replica.ts";
import { open, read, textOf, write, type BufferedUpstream } from "./requests.ts";

test("a response is returned whole: status, headers and body", async () => {
  const [replica] = await start(1);
  replica.respond = (response, request) => {
    response.writeHead(302, { location: "/elsewhere", "content-encoding": "gzip", "set-cookie": ["a=1", "b=2"] });
    response.write(`${request.method} ${request.url} `);
    request.pipe(response);
  };
  const { upstream } = open([replica.url]);
  const result = await upstream.send({ ...write, path: "/a?b=c", body: "text" });
  expect(result).toMatchObject({
    kind: "response",
    status: 302,
    headers: { location: "/elsewhere", "content-encoding": "gzip", "set-cookie": ["a=1", "b=2"] },
  });
  expect(textOf(result)).toBe("POST /a?b=c text");
  expect(replica.requests).toBe(1);
});

test("a request without a path is sent to the path of the replica's URL", async () => {
  const [replica] = await start(1);
  replica.respond = (response, request) => void response.end(request.url);
  const { upstream } = open([`${replica.url}/graphql?v=1`]);
  const { path: _, ...pathless } = read;
  expect(textOf(await upstream.send(pathless))).toBe("/graphql?v=1");
});

test("headers of more than 16 KiB are no fault of the replica: the request has chosen them", async () => {
  const replicas = await start(2, (response) => void response.setHeader("link", "x".repeat(20_000)).end("ok"));
  const { upstream, seen } = open(replicas.map(({ url }) => url));
  for (let i = 0; i < 12; i++) expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "too-large" });
  expect(replicas.map(({ requests }) => requests).reduce((sum, count) => sum + count)).toBe(12);
  expect(seen).toEqual([]);
});

test.each([
  ["at its head", { "content-length": "1001" }, 1],
  ["at its first byte too many", {}, 1_001],
])("a response that is too large is cut %s, and not requested again", async (_, headers, bytes) => {
  const replicas = await start(2, (response) => {
    response.writeHead(200, headers).write(Buffer.alloc(bytes));
  });
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { bodyBytesMax: 1_000 },
  );
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "too-large" });
  expect(replicas[0].requests + replicas[1].requests).toBe(1);
});

test("a response of exactly the limit is returned, and a response to HEAD has no body to limit", async () => {
  const [replica] = await start(1);
  replica.respond = (response, request) =>
    void response
      .writeHead(200, { "content-length": "1000" })
      .end(request.method === "HEAD" ? "" : Buffer.alloc(1_000));
  const { upstream } = open([replica.url], { bodyBytesMax: 1_000 });
  expect(await upstream.send(read)).toMatchObject({ body: Buffer.alloc(1_000) });
  replica.respond = (response) => void response.writeHead(200, { "content-length": "5000" }).end();
  expect(await upstream.send({ ...read, method: "HEAD" })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
});

test("an informational response is not the final one, and is reported with its headers", async () => {
  const [replica] = await start(1);
  replica.respond = (response) => {
    response.writeEarlyHints({ link: "</a>; rel=preload" });
    response.end("ok");
  };
  const { upstream } = open([replica.url]);
  const information: unknown[] = [];
  const onInformation: UpstreamRequest["onInformation"] = (status, { link }) => void information.push(status, link);
  const response = { kind: "response", status: 200, body: Buffer.from("ok") };
  expect(await upstream.send({ ...read, onInformation })).toMatchObject(response);
  expect(information).toEqual([103, "</a>; rel=preload"]);
  expect(await upstream.send(read)).toMatchObject(response);
});

test("a response that ends early fails as reset", async () => {
  const [replica] = await start(1);
  replica.respond = (response) => {
    response.writeHead(200, { "content-length": "10" }).write("half");
    setImmediate(() => response.socket?.end());
  };
  const { upstream } = open([replica.url]);
  expect(await upstream.send(write)).toMatchObject({ kind: "failed", reason: "reset" });
});

test("a response that is not HTTP fails as reset", async () => {
  const url = await startNonsense();
  const { upstream } = open([url]);
  expect(await upstream.send(write)).toMatchObject({
    kind: "failed",
    reason: "reset",
    cause: { name: "HTTPParserError" },
  });
});

test("a request that cannot be sent is rejected, and no replica counts it as a failure", async () => {
  const [replica] = await start(1);
  const { upstream, seen } = open([replica.url]);
  await expect(upstream.send({ ...read, headers: ["a", "b\r\nc: d"] })).rejects.toThrow("invalid a header");
  expect([replica.requests, seen]).toEqual([0, []]);
});

test("close waits for requests in flight", async () => {
  const [replica] = await start(1);
  const arrived = holdResponse(replica);
  const { upstream } = open([replica.url]);
  const held = upstream.send(read);
  const response = await arrived;
  const closed = upstream.close();
  response.end("ok");
  expect(textOf(await held)).toBe("ok");
  await closed;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
});

async function traceCalls() {
  const collector = createSpanCollector();
  const trace = await collector.createTrace("caller");
  async function send(upstream: BufferedUpstream, more: Partial<UpstreamRequest> = {}) {
    const parent = trace.begin("call", undefined);
    if (!parent) throw new Error("each request is traced");
    const traced = { parent, name: "send to things", attributes: { "tributary.subgraph": "things" } };
    await upstream.send({ ...read, ...more, traced });
    parent.end();
    return collector.spans();
  }
  return { send };
}

test("each attempt is a child span with its replica and result, and is the parent of the replica's span", async () => {
  const { send } = await traceCalls();
  const traceParents: unknown[] = [];
  const [first, second] = await start(2, (response, request) => {
    traceParents.push(request.headers["traceparent"]);
    // The first replica fails.
    (traceParents.length === 1 ? respondUnavailable : respondOk)(response, request);
  });
  const { upstream } = open([first.url, second.url]);
  const spans = await send(upstream);
  const parent = spans.find(({ name }) => name === "call");
  const attempts = spans.filter(({ name }) => name === "send to things");
  expect(attempts).toMatchObject([
    { kind: "client", parentId: parent?.spanId, failed: true, attributes: { "error.type": "503" } },
    { kind: "client", parentId: parent?.spanId, failed: false, attributes: { "http.request.resend_count": 1 } },
  ]);
  expect(attempts[0]?.attributes).not.toHaveProperty("http.request.resend_count");
  expect(attempts.map(({ attributes }) => attributes["http.response.status_code"])).toEqual([503, 200]);
  const ports = attempts.map(({ attributes }) => attributes["server.port"]);
  expect(new Set(ports)).toEqual(new Set([first.port, second.port]));
  expect(attempts[0]?.attributes).toMatchObject({ "server.address": "127.0.0.1", "tributary.subgraph": "things" });
  expect(traceParents).toEqual(attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
});

test("the span of a broken attempt is failed, that of an aborted one is not", async () => {
  const { send } = await traceCalls();
  const [replica] = await start(1, reset);
  const { upstream } = open([replica.url]);
  await send(upstream, { isIdempotent: false });
  const caller = new AbortController();
  const arrived = holdResponse(replica);
  const sent = send(upstream, { signal: caller.signal });
  await arrived;
  caller.abort();
  const attempts = (await sent).filter(({ name }) => name === "send to things");
  expect(attempts).toMatchObject([
    { failed: true, attributes: { "error.type": "reset" } },
    { failed: false, attributes: { "tributary.outcome": "aborted" } },
  ]);
});
