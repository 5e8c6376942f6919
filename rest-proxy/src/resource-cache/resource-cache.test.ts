import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { brotliDecompressSync } from "node:zlib";
import type { ContentCoding } from "@tributary/kit/http/accept";
import { listHeaderValues } from "@tributary/kit/http/raw-headers";
import { createCompression } from "@tributary/kit/http/compression";
import { expect, test } from "vitest";
import type { OriginFetch, OriginRequest, OriginResponse } from "../cache/cache-request.ts";
import { createRouteTable } from "../route/route-table.ts";
import { compressReads } from "./compression.ts";
import { createKeysOf, createLookup } from "./resource-cache.ts";

test("Accept selects no variant, Accept-Encoding selects by the chosen coding, and other fields by their normal form", () => {
  const headers = {
    ...{ accept: "text/x", "accept-encoding": "br;q=0.1", "accept-language": "de-AT , en" },
    ...{ authorization: "Bearer a", "x-many": ["1", "2"] },
  };
  const { key, varyValueOf } = createLookup({ headers }, { service: "things", cache: "public" }, "/v1/a", "br");
  expect(key).toBe("/v1/a");
  expect(
    ["accept", "accept-encoding", "accept-language", "authorization", "x-many", "x-none"].map(varyValueOf),
  ).toEqual([undefined, "br", "de-at,en", "Bearer a", "1,2", undefined]);
});

test.each([
  ["/v2/things/7", "/v1/things", ["/v1/things/7", "/v2/things/7"]],
  ["/things/7", "/v1/things", ["/v1/things/7", "/v2/things/7"]],
  ["7?a=1#b", "/v1/things/", ["/v1/things/7", "/v2/things/7"]],
  ["/v1/things/caf%c3%a9", "/v1/things", ["/v1/things/caf%C3%A9", "/v2/things/caf%C3%A9"]],
  ["/v1/things/7", "/v1/things/7?a=1", ["/v1/things/7", "/v2/things/7"]],
  ["//evil.example/v1/things/7", "/v1/things", []],
  ["https://evil.example/v1/things/7", "/v1/things", []],
  ["http://[", "/v1/things", []],
  ["/v1/nothing", "/v1/things", []],
])("the reference %s in a response of %s has the keys %j", (reference, key, expected) => {
  const declared = { query: [], cache: "none", service: "things", summary: "", versions: [1, 2] } as const;
  const table = createRouteTable([
    { ...declared, id: "getThing", method: "GET", path: "/things/:id", priority: "normal" },
  ]);
  expect(createKeysOf(table)(reference, key)).toEqual(expected);
});

const long = JSON.stringify("long ".repeat(400));
const json = ["Content-Type", "application/json", "ETag", '"7"'];
const signal = { aborted: false, reason: undefined, addEventListener() {}, removeEventListener() {} };

const compression = createCompression();
const compress = (fetch: OriginFetch, coding: ContentCoding | undefined) => compressReads(fetch, coding, compression);

/** An origin that responds with these headers and this body, and records its requests. */
function origin(status: number, headers: readonly string[], body = long) {
  const requests: OriginRequest[] = [];
  const fetch = (request: OriginRequest): Promise<OriginResponse> => {
    requests.push(request);
    const length = ["Content-Length", String(Buffer.byteLength(body))];
    return Promise.resolve({ status, headers: [...headers, ...length], body: Readable.from([Buffer.from(body)]) });
  };
  return { fetch, requests };
}

const get = (...headers: readonly string[]): OriginRequest => ({ method: "GET", headers, signal });

test("a compressed response has its own ETag, length and Vary", async () => {
  const { fetch } = origin(200, [...json, "Cache-Control", "max-age=5"]);
  const response = await compress(fetch, "br")(get());
  const compressed = response.body as Buffer;
  expect(brotliDecompressSync(compressed).toString()).toBe(long);
  expect(response.headers).toEqual([
    ...["Content-Type", "application/json", "ETag", '"7-br"', "Cache-Control", "max-age=5"],
    ...["Content-Encoding", "br", "Content-Length", String(compressed.length), "Vary", "Accept-Encoding"],
  ]);
});

test.each([
  ["br", 200],
  [undefined, 200],
  ["br", 304],
] as const)(
  "Vary of the service and of the coding %s are one line of a %i, since some caches read only the first",
  async (coding, status) => {
    const { fetch } = origin(status, [...json, "Vary", "Authorization"]);
    const { headers } = await compress(fetch, coding)(get("if-none-match", '"7-br"'));
    expect(listHeaderValues(headers, "vary")).toEqual(["Authorization, Accept-Encoding"]);
  },
);

test.each<[string, number, readonly string[], string, readonly string[]]>([
  ["short", 200, json, "{}", []],
  ["not JSON", 200, ["Content-Type", "text/html"], long, []],
  ["already compressed", 200, [...json, "Content-Encoding", "zstd"], long, []],
  ["no-transform", 200, [...json, "Cache-Control", "public, no-transform"], long, []],
  [
    "no-transform in a second line",
    200,
    [...json, "Cache-Control", "public", "Cache-Control", "no-transform"],
    long,
    [],
  ],
  ["partial", 206, json, long, []],
  ["a problem", 404, ["Content-Type", "application/problem+json"], long, []],
  ["too long", 200, json, "x".repeat(2_097_153), []],
  ["requested with Range", 200, json, long, ["Range", "bytes=0-1"]],
])("a response that is %s is not compressed", async (name, status, headers, body, requestHeaders) => {
  const response = await compress(origin(status, headers, body).fetch, "br")(get(...requestHeaders));
  expect(await textOf(response)).toBe(body);
  expect(response.headers.slice(0, headers.length)).toEqual(headers);
  expect(response.headers.filter((header) => /^content-encoding$/i.test(header)).length).toBe(
    name === "already compressed" ? 1 : 0,
  );
});

test("a weak ETag is unchanged", async () => {
  const { fetch } = origin(200, ["Content-Type", "application/json", "ETag", 'W/"7"']);
  expect((await compress(fetch, "gzip")(get())).headers).toContain('W/"7"');
});

test("an uncompressed response varies by Accept-Encoding", async () => {
  const response = await compress(origin(200, json).fetch, undefined)(get());
  expect(response.headers.slice(-2)).toEqual(["Vary", "Accept-Encoding"]);
  expect(await textOf(response)).toBe(long);
});

test.each<["br" | undefined, string, string, string, boolean]>([
  // Coding, condition of the client, condition for the service, ETag of the response, whether it has Vary.
  ["br", '"6", "7-br"', '"6", "7"', '"7-br"', true],
  ["br", '"7"', '"7"', '"7"', false],
  ["br", '"7-gzip"', '"7-gzip"', '"7"', false],
  ["br", "*", "*", '"7"', true],
  [undefined, '"7"', '"7"', '"7"', true],
  [undefined, '"7-br"', '"7-br"', '"7"', true],
])("with the coding %s, If-None-Match %s is sent as %s", async (coding, condition, sent, tag, varies) => {
  const { fetch, requests } = origin(304, ["ETag", '"7"'], "");
  const { headers } = await compress(fetch, coding)(get("If-None-Match", condition));
  expect(requests[0]?.headers).toEqual(["If-None-Match", sent]);
  expect(headers[headers.indexOf("ETag") + 1]).toBe(tag);
  expect(headers.includes("Vary")).toBe(varies);
});

test("If-Match of a write has the ETag without the suffix of any coding", async () => {
  const { fetch, requests } = origin(200, json);
  const request = { ...get("if-match", '"7-br", "8-gzip", "9"'), method: "PATCH" };
  const response = await compress(fetch, "br")(request);
  expect(requests[0]?.headers).toEqual(["if-match", '"7", "8", "9"']);
  expect(await textOf(response)).toBe(long);
});

test("a response truncated before it is compressed is an error", async () => {
  const broken = new Readable({ read: () => undefined });
  const headers = [...json, "Content-Length", "2000"];
  const fetch = () => Promise.resolve({ status: 200, headers, body: broken });
  const response = compress(fetch, "br")(get());
  queueMicrotask(() => broken.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" })));
  await expect(response).rejects.toMatchObject({ code: "BAD_GATEWAY" });
});

test("beyond bodiesMax a response is uncompressed, with Vary", async () => {
  const { fetch } = origin(200, json);
  const fetchCompressed = compressReads(fetch, "br", createCompression({ bodiesMax: 1 }));
  const [first, second] = await Promise.all([fetchCompressed(get()), fetchCompressed(get())]);
  expect(first.headers).toContain("Content-Encoding");
  expect(second.headers.slice(-2)).toEqual(["Vary", "Accept-Encoding"]);
  expect(await textOf(second)).toBe(long);
  expect((await fetchCompressed(get())).headers).toContain("Content-Encoding");
});

/** A compressed body is a buffer, any other a stream. */
function textOf({ body }: OriginResponse): Promise<string> {
  return text(body instanceof Readable ? body : Readable.from([body]));
}
