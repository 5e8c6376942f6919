import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { fieldMessageOf } from "../src/errors/codes.ts";
import { type EchoPlatform, startEchoPlatform } from "./helpers/echo-platform.ts";

const query = '{ one(name: "accept-encoding") }';
const json = { "content-type": "application/json" };
/** 11 bytes, with a window of 128 MB. */
const wideFrame = Buffer.from("28b52ffd0088190000616263", "hex");
const result = JSON.stringify({ data: { one: "x" } });

function respondWith({ first }: EchoPlatform, encoding: string, body: Buffer): void {
  first.fault = (response) => response.writeHead(200, { ...json, "content-encoding": encoding }).end(body);
}

/** The code at the field, and the reason in the log. */
async function failureOf(platform: EchoPlatform): Promise<readonly [code: unknown, reason: string]> {
  const { body } = await platform.sendOnBothPaths(query);
  expect(body.data).toEqual({ one: null });
  const { message, extensions } = body.errors[0];
  expect(message).toBe(fieldMessageOf(extensions.code));
  const failure = platform.gateway.observations.findLast(({ kind }) => kind === "subgraph-fetch-failed");
  const cause = failure && "cause" in failure ? failure.cause : undefined;
  return [extensions.code, cause instanceof Error ? cause.message : "none"];
}

describe("a response that a subgraph compresses without being asked", () => {
  test.each([
    ["gzip", gzipSync(result)],
    ["X-Gzip", gzipSync(result)],
    ["br", brotliCompressSync(result)],
    ["zstd", zstdCompressSync(result)],
    ["deflate", deflateSync(result)],
    ["deflate", deflateRawSync(result)],
    ["identity", Buffer.from(result)],
  ])("with %s is read", async (encoding, body) => {
    const platform = await startEchoPlatform("{}");
    respondWith(platform, encoding, body);
    expect((await platform.sendOnBothPaths(query)).body).toEqual({ data: { one: "x" } });
  });

  test("may be an error of the subgraph that is meant for the client", async () => {
    const platform = await startEchoPlatform("{}");
    const errors = [{ message: "Log in.", extensions: { code: "UNAUTHENTICATED" } }];
    platform.first.fault = (response) =>
      response
        .writeHead(401, { ...json, "content-encoding": "gzip" })
        .end(gzipSync(JSON.stringify({ data: null, errors })));
    expect((await platform.sendOnBothPaths(query)).body.errors[0].extensions.code).toBe("UNAUTHENTICATED");
  });

  test("is an error of its fields if it is truncated, corrupt, empty or of unknown coding; the log has the reason", async () => {
    const platform = await startEchoPlatform("{}");
    const gzipped = gzipSync(result);
    const corrupt = Buffer.from(gzipped);
    corrupt.fill(0, corrupt.length - 8);
    for (const [encoding, body, reason] of [
      ["gzip", gzipped.subarray(0, 20), /cannot be decompressed \(gzip\): unexpected end of file/],
      ["br", brotliCompressSync(result).subarray(0, 9), /cannot be decompressed \(br\)/],
      ["gzip", corrupt, /cannot be decompressed \(gzip\): incorrect data check/],
      ["gzip", Buffer.from(result), /cannot be decompressed \(gzip\): incorrect header check/],
      [
        "gzip, br",
        brotliCompressSync(gzipped),
        /Content-Encoding "gzip, br"; supported are gzip, br, zstd and deflate/,
      ],
      ["zstd", Buffer.from(result), /cannot be decompressed \(zstd\): Unknown frame descriptor/],
      ["zstd", zstdCompressSync(result).subarray(0, 15), /cannot be decompressed \(zstd\): unexpected end of file/],
      ["zstd", wideFrame, /cannot be decompressed \(zstd\): Frame requires too much memory/],
      ["compress", Buffer.from(result), /Content-Encoding "compress"/],
    ] as const) {
      respondWith(platform, encoding, body);
      expect(await failureOf(platform)).toEqual(["SUBGRAPH_INVALID_RESPONSE", expect.stringMatching(reason)]);
    }
    respondWith(platform, "gzip", Buffer.of());
    expect((await failureOf(platform))[0]).toBe("SUBGRAPH_INVALID_RESPONSE");
  });
});

describe("a compressed response that is too large", () => {
  test("by body_bytes_max is not decompressed further", async () => {
    const platform = await startEchoPlatform("all: { body_bytes_max: 5000 }");
    respondWith(platform, "gzip", gzipSync(JSON.stringify({ data: { one: "x".repeat(6_000) } })));
    expect(await failureOf(platform)).toEqual([
      "SUBGRAPH_RESPONSE_TOO_LARGE",
      expect.stringMatching(/more than 5000 when it is decompressed/),
    ]);
  });

  test("by 250 times the received bytes is not decompressed further, unless it has less than 10 MB", async () => {
    const platform = await startEchoPlatform("all: { body_bytes_max: 1000000000 }");
    const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
    const compressions = [
      ["gzip", (body: Buffer) => gzipSync(body)],
      ["br", (body: Buffer) => brotliCompressSync(body, fast)],
      ["zstd", (body: Buffer) => zstdCompressSync(body)],
    ] as const;
    for (const [encoding, compress] of compressions) {
      const bomb = compress(Buffer.alloc(100_000_000, " "));
      respondWith(platform, encoding, bomb);
      const bytesBefore = process.memoryUsage().arrayBuffers;
      const bytesMax = Math.max(10_000_000, 250 * bomb.length);
      expect(await failureOf(platform)).toEqual([
        "SUBGRAPH_RESPONSE_TOO_LARGE",
        `The response has ${bomb.length} bytes, and more than ${bytesMax} when it is decompressed`,
      ]);
      expect(process.memoryUsage().arrayBuffers - bytesBefore).toBeLessThan(150_000_000);
    }
    const list = Buffer.from(JSON.stringify({ data: { one: "x" }, extensions: { a: Array(900_000).fill(true) } }));
    for (const [encoding, compress] of compressions) {
      respondWith(platform, encoding, compress(list));
      expect((await platform.sendOnBothPaths(query)).body).toEqual({ data: { one: "x" } });
    }
  });
});

test("compressed_responses asks for it; without it, the gateway sends no Accept-Encoding", async () => {
  const platform = await startEchoPlatform("subgraphs: { first: { compressed_responses: true } }");
  const both = '{ one(name: "accept-encoding") two(name: "accept-encoding") }';
  expect((await platform.sendOnBothPaths(both)).body).toEqual({ data: { one: "zstd, br, gzip", two: null } });
});
