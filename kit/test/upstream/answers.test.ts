import { expect, test } from "vitest";
import { open, read, textOf, write } from "./calls.ts";
import { silence, start, startNonsense } from "./replica.ts";

test("an answer comes whole: status, headers, body, whatever they are", async () => {
  const [replica] = await start(1);
  replica.answer = (response, request) => {
    response.writeHead(302, { location: "/elsewhere", "content-encoding": "gzip", "set-cookie": ["a=1", "b=2"] });
    response.write(`${request.method} ${request.url} `);
    request.pipe(response);
  };
  const { upstream } = open([replica.url]);
  const result = await upstream.send({ ...write, path: "/a?b=c", body: "text" });
  expect(result).toMatchObject({
    kind: "answered",
    status: 302,
    headers: { location: "/elsewhere", "content-encoding": "gzip", "set-cookie": ["a=1", "b=2"] },
  });
  expect(textOf(result)).toBe("POST /a?b=c text");
  expect(replica.calls).toBe(1);
});

test("without a path a request goes to the replica's own", async () => {
  const [replica] = await start(1);
  replica.answer = (response, request) => void response.end(request.url);
  const { upstream } = open([`${replica.url}/graphql?v=1`]);
  const { path: _, ...pathless } = read;
  expect(textOf(await upstream.send(pathless))).toBe("/graphql?v=1");
});

test.each([
  ["at once when its head says so", { "content-length": "1001" }, 1],
  ["when it gets there", {}, 1_001],
])("an answer over the cap is cut %s, and not asked for again", async (_, headers, bytes) => {
  const replicas = await start(2, (response) => {
    response.writeHead(200, headers).write(Buffer.alloc(bytes));
  });
  const { upstream } = open(
    replicas.map(({ url }) => url),
    { bodyBytesMax: 1_000 },
  );
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "too-large" });
  expect(replicas[0].calls + replicas[1].calls).toBe(1);
});

test("an answer of just the cap comes, and an answer to HEAD has no body to cut", async () => {
  const [replica] = await start(1);
  replica.answer = (response, request) =>
    void response
      .writeHead(200, { "content-length": "1000" })
      .end(request.method === "HEAD" ? "" : Buffer.alloc(1_000));
  const { upstream } = open([replica.url], { bodyBytesMax: 1_000 });
  expect(await upstream.send(read)).toMatchObject({ body: Buffer.alloc(1_000) });
  replica.answer = (response) => void response.writeHead(200, { "content-length": "5000" }).end();
  expect(await upstream.send({ ...read, method: "HEAD" })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
});

test("early hints are not the answer", async () => {
  const [replica] = await start(1);
  replica.answer = (response) => {
    response.writeEarlyHints({ link: "</a>; rel=preload" });
    response.end("ok");
  };
  const { upstream } = open([replica.url]);
  expect(await upstream.send(read)).toMatchObject({ kind: "answered", status: 200, body: Buffer.from("ok") });
});

test("an answer that stops short is a broken one", async () => {
  const [replica] = await start(1);
  replica.answer = (response) => {
    response.writeHead(200, { "content-length": "10" }).write("half");
    setImmediate(() => response.socket?.end());
  };
  const { upstream } = open([replica.url]);
  expect(await upstream.send(write)).toMatchObject({ kind: "failed", reason: "reset" });
});

test("what is no HTTP is a broken answer", async () => {
  const url = await startNonsense();
  const { upstream } = open([url]);
  expect(await upstream.send(write)).toMatchObject({
    kind: "failed",
    reason: "reset",
    cause: { name: "HTTPParserError" },
  });
});

test("a request that cannot be put on the wire is thrown back, and no replica blamed", async () => {
  const [replica] = await start(1);
  const { upstream, seen } = open([replica.url]);
  await expect(upstream.send({ ...read, headers: { a: "b\r\nc: d" } })).rejects.toThrow("invalid a header");
  expect([replica.calls, seen]).toEqual([0, []]);
});

test("closing waits for what is under way", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream } = open([replica.url]);
  const held = upstream.send(read);
  const answer = await silent;
  const closed = upstream.close();
  answer.end("ok");
  expect(textOf(await held)).toBe("ok");
  await closed;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "refused" });
});
