import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { OriginResponse, OriginRequest } from "../cache/cache-request.ts";
import { createCodingChooser, createCompression } from "./compression.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate, zstd", undefined],
  ["gzip", "gzip"],
  ["GZIP;q=0.5", "gzip"],
  ["gzip, br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip;q=1, br;q=0.9", "gzip"],
  ["*", "br"],
  ["*, br;q=0", "gzip"],
  ["*;q=0", undefined],
  ["br;q=0, gzip;q=0", undefined],
  ["br;q=0.5, identity", undefined],
  ["identity;q=1, gzip;q=0.5", undefined],
  ["br, identity", "br"],
  [`gzip, ${"x".repeat(300)}`, "gzip"],
])("Accept-Encoding %j comes to %s", (header, expected) => {
  const choose = createCodingChooser();
  expect([choose(header), choose(header)]).toEqual([expected, expected]);
});

const long = JSON.stringify("long ".repeat(400));
const json = ["Content-Type", "application/json", "ETag", '"7"'];
const signal = { aborted: false, reason: undefined, addEventListener() {}, removeEventListener() {} };

const withCompression = createCompression({ compressionsMax: 8 });

/** An origin that answers with these headers and this body, and writes down what it was asked. */
function origin(status: number, headers: readonly string[], body = long) {
  const asked: OriginRequest[] = [];
  const ask = (request: OriginRequest): Promise<OriginResponse> => {
    asked.push(request);
    const length = ["Content-Length", String(Buffer.byteLength(body))];
    return Promise.resolve({ status, headers: [...headers, ...length], body: Readable.from([Buffer.from(body)]) });
  };
  return { ask, asked };
}

const get = (...headers: readonly string[]): OriginRequest => ({ method: "GET", headers, signal });

test("an answer is packed whole: its tag, its length and what it varies by go with it", async () => {
  const { ask } = origin(200, [...json, "Cache-Control", "max-age=5"]);
  const answer = await withCompression(ask, "br")(get());
  const packed = answer.body as Buffer;
  expect(brotliDecompressSync(packed).toString()).toBe(long);
  expect(answer.headers).toEqual([
    ...["Content-Type", "application/json", "ETag", '"7-br"', "Cache-Control", "max-age=5"],
    ...["Content-Encoding", "br", "Content-Length", String(packed.length), "Vary", "Accept-Encoding"],
  ]);
});

test.each<[string, number, readonly string[], string, readonly string[]]>([
  ["short", 200, json, "{}", []],
  ["no JSON", 200, ["Content-Type", "text/html"], long, []],
  ["packed already", 200, [...json, "Content-Encoding", "zstd"], long, []],
  ["not to be transformed", 200, [...json, "Cache-Control", "public, no-transform"], long, []],
  ["a part", 206, json, long, []],
  ["a problem", 404, ["Content-Type", "application/problem+json"], long, []],
  ["too long", 200, json, "x".repeat(2_097_153), []],
  ["asked for in part", 200, json, long, ["Range", "bytes=0-1"]],
])("what is %s goes as it is", async (_name, status, headers, body, asked) => {
  const answer = await withCompression(origin(status, headers, body).ask, "br")(get(...asked));
  expect(await textOf(answer)).toBe(body);
  expect(answer.headers.slice(0, headers.length)).toEqual(headers);
  expect(answer.headers.filter((one) => /^content-encoding$/i.test(one)).length).toBe(
    _name === "packed already" ? 1 : 0,
  );
});

test("a weak tag stays what it is", async () => {
  const { ask } = origin(200, ["Content-Type", "application/json", "ETag", 'W/"7"']);
  expect((await withCompression(ask, "gzip")(get())).headers).toContain('W/"7"');
});

test("one who takes no packing is told that others do", async () => {
  const answer = await withCompression(origin(200, json).ask, undefined)(get());
  expect(answer.headers.slice(-2)).toEqual(["Vary", "Accept-Encoding"]);
  expect(await textOf(answer)).toBe(long);
});

test.each<["br" | undefined, string, string, string, boolean]>([
  // Packing, what is asked, what the service is asked, what it says is unchanged, whether that varies.
  ["br", '"6", "7-br"', '"6", "7"', '"7-br"', true],
  ["br", '"7"', '"7"', '"7"', false],
  ["br", '"7-gzip"', '"7-gzip"', '"7"', false],
  ["br", "*", "*", '"7"', true],
  [undefined, '"7"', '"7"', '"7"', true],
  [undefined, '"7-br"', '"7-br"', '"7"', true],
])("with the packing %s, If-None-Match %s is asked as %s", async (coding, asked, told, tag, varies) => {
  const { ask, asked: seen } = origin(304, ["ETag", '"7"'], "");
  const { headers } = await withCompression(ask, coding)(get("If-None-Match", asked));
  expect(seen[0]?.headers).toEqual(["If-None-Match", told]);
  expect(headers[headers.indexOf("ETag") + 1]).toBe(tag);
  expect(headers.includes("Vary")).toBe(varies);
});

test("a write speaks of what was read, in whatever packing", async () => {
  const { ask, asked } = origin(200, json);
  const request = { ...get("if-match", '"7-br", "8-gzip", "9"'), method: "PATCH" };
  const answer = await withCompression(ask, "br")(request);
  expect(asked[0]?.headers).toEqual(["if-match", '"7", "8", "9"']);
  expect(await textOf(answer)).toBe(long);
});

test("an answer that breaks off before it is packed is none", async () => {
  const broken = new Readable({ read: () => undefined });
  const headers = [...json, "Content-Length", "2000"];
  const ask = () => Promise.resolve({ status: 200, headers, body: broken });
  const answer = withCompression(ask, "br")(get());
  queueMicrotask(() => broken.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" })));
  await expect(answer).rejects.toMatchObject({ code: "BAD_GATEWAY" });
});

test("more than may be packed at once goes as it is, and says that it might be packed", async () => {
  const { ask } = origin(200, json);
  const way = createCompression({ compressionsMax: 1 })(ask, "br");
  const [first, second] = await Promise.all([way(get()), way(get())]);
  expect(first.headers).toContain("Content-Encoding");
  expect(second.headers.slice(-2)).toEqual(["Vary", "Accept-Encoding"]);
  expect(await textOf(second)).toBe(long);
  expect((await way(get())).headers).toContain("Content-Encoding");
});

/** What is packed is there at once; what goes as it is comes as it came. */
function textOf({ body }: OriginResponse): Promise<string> {
  return text(body instanceof Readable ? body : Readable.from([body]));
}
