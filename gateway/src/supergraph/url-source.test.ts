import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createUrlSource, type UrlSourceOptions } from "./url-source.ts";

const { signal } = new AbortController();

test("sends its headers; one in a file is read for each request", async () => {
  const { url, requests } = await listen((_, response) => response.end("text"));
  const folder = mkdtempSync(join(tmpdir(), "secret-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "key");
  const { read } = sourceOf(url, { headers: { "X-Hive-CDN-Key": { file }, Accept: "application/graphql" } });
  for (const key of ["first", "second"]) {
    writeFileSync(file, `${key}\n`);
    await read(signal);
  }
  expect(requests.map(({ headers }) => [headers["x-hive-cdn-key"], headers.accept])).toEqual([
    ["first", "application/graphql"],
    ["second", "application/graphql"],
  ]);
});

test("sends user and password of its URL, unless its headers have others; its name has neither", async () => {
  const { url, requests } = await listen((_, response) => response.end("text"));
  const withUser = url.replace("//", "//ada:a%40b@");
  const source = sourceOf(withUser);
  await source.read(signal);
  await sourceOf(withUser, { headers: { Authorization: "Bearer key" } }).read(signal);
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([
    `Basic ${Buffer.from("ada:a@b").toString("base64")}`,
    "Bearer key",
  ]);
  expect(source.name).toBe(url);
});

test("sends the ETag, and returns undefined for 304; 304 without an ETag sent is an error", async () => {
  let status = 304;
  const { url } = await listen((request, response) => {
    if (request.headers["if-none-match"] === '"1"') status = 304;
    response.writeHead(status, { etag: '"1"' }).end(status === 200 ? "text" : undefined);
  });
  const { read } = sourceOf(url);
  await expect(read(signal)).rejects.toThrow("304");
  status = 200;
  expect(await read(signal)).toBe("text");
  expect(await read(signal)).toBeUndefined();
});

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
] as const)("decompresses %s, up to its limit", async (encoding, compress) => {
  let text = "type Query";
  const { url, requests } = await listen((_, response) =>
    response.setHeader("content-encoding", encoding).end(compress(text)),
  );
  const { read } = sourceOf(url, { bodyBytesMax: 1_000 });
  expect(await read(signal)).toBe(text);
  expect(requests[0]?.headers["accept-encoding"]).toBe("gzip, br");
  text = "a".repeat(100_000);
  await expect(read(signal)).rejects.toThrow("more than 1000 bytes");
});

test("reads the next URL if one fails, without the ETag of another, and reports each failure without query strings", async () => {
  let isFirstDown = false;
  const first = await listen((_, response) => response.writeHead(isFirstDown ? 500 : 200, { etag: '"1"' }).end("text"));
  const second = await listen((_, response) => response.end("text of the mirror"));
  const { read, name } = createUrlSource({ urls: [`${first.url}?key=secret`, `${second.url}?key=secret`] });
  expect(name).toBe(`${first.url}, ${second.url}`);
  expect(await read(signal)).toBe("text");
  isFirstDown = true;
  expect(await read(signal)).toBe("text of the mirror");
  expect(second.requests[0]?.headers["if-none-match"]).toBeUndefined();
  second.close();
  const failure = await read(signal).catch(String);
  expect(failure).toContain(`${first.url}: the status is 500; ${second.url}: `);
  expect(failure).not.toContain("secret");
});

test("follows no redirect, and says so", async () => {
  const { url, requests } = await listen((_, response) => response.writeHead(302, { location: "/other" }).end());
  await expect(sourceOf(url).read(signal)).rejects.toThrow("redirects are not followed");
  expect(requests).toHaveLength(1);
});

test.each([200, 500])("ends a read of status %i whose body never ends", async (status) => {
  const { url } = await listen((_, response) => {
    response.writeHead(status);
    const timer = setInterval(() => response.write("a"), 5);
    response.on("close", () => clearInterval(timer));
  });
  await expect(sourceOf(url, { timeoutMs: 50 }).read(signal)).rejects.toThrow(url);
});

test("a page of HTML cannot be read, so that one which differs each time is not loaded at each poll", async () => {
  const { url } = await listen((_, response) =>
    response.setHeader("content-type", "Text/HTML").end("<html>Log in</html>"),
  );
  await expect(sourceOf(url).read(signal)).rejects.toThrow("HTML");
});

test("an equal text from an older cache is no error", async () => {
  let age = 0;
  const { url } = await listen((_, response) => response.setHeader("age", age).end("text"));
  const { read } = sourceOf(url);
  await read(signal);
  age = 60;
  expect(await read(signal)).toBe("text");
});

const sourceOf = (url: string, o: Partial<UrlSourceOptions> = {}) => createUrlSource({ urls: [url], ...o });

async function listen(respond: RequestListener) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    respond(request, response);
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(close);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/supergraph`, requests, close };
}
