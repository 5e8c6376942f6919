import { randomBytes } from "node:crypto";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { createCompression } from "./compression.ts";

const body = Buffer.from("a body ".repeat(400));
const incompressible = Buffer.from(randomBytes(400_000).toString("hex"));

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate, zstd", "zstd"],
  ["gzip", "gzip"],
  ["GZIP;q=0.5", "gzip"],
  ["gzip, br", "br"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["gzip;q=1, br;q=0.9", "gzip"],
  ["*", "zstd"],
  ["*, br;q=0, zstd;q=0", "gzip"],
  ["*;q=0", undefined],
  ["br;q=0, gzip;q=0", undefined],
  ["br;q=0.5, identity", undefined],
  ["identity;q=1, gzip;q=0.5", undefined],
  ["br, identity", "br"],
  [`gzip, ${"x".repeat(300)}`, "gzip"],
])("Accept-Encoding %j selects %s", (header, expected) => {
  const { chooseCoding } = createCompression();
  expect([chooseCoding(header), chooseCoding(header)]).toEqual([expected, expected]);
});

test("a compressed body decompresses to the same bytes, also one that is empty or longer than the largest window", async () => {
  const { compress } = createCompression();
  for (const bytes of [Buffer.of(), body, Buffer.alloc(5_000_000, "long ")]) {
    expect(brotliDecompressSync(await compress(bytes, "br")).equals(bytes)).toBe(true);
    const params = { [constants.ZSTD_d_windowLogMax]: 23 };
    expect(zstdDecompressSync(await compress(bytes, "zstd"), { params }).equals(bytes)).toBe(true);
    expect(gunzipSync(await compress(Promise.resolve(bytes), "gzip")).equals(bytes)).toBe(true);
  }
});

test("Brotli's quality is higher for a short body, and lower for a long one", async () => {
  const { compress } = createCompression();
  for (const [bytes, quality] of [
    [16_384, 5],
    [16_385, 4],
    [524_288, 4],
    [524_289, 3],
  ] as const) {
    const names = ["engine", "algebra", "loom", "flowers", "quiet", "proof", "island"];
    const items = Array.from({ length: bytes / 8 }, (_, id) => `{"id":"${id}","name":"${names[(id * id) % 7]}"}`);
    const long = Buffer.from(items.join()).subarray(0, bytes);
    const window = Math.ceil(Math.log2(bytes));
    const sizeAt = (level: number) => {
      const params = { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_LGWIN]: window };
      return brotliCompressSync(long, { params: { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: bytes } }).length;
    };
    const sizes = [3, 4, 5].map(sizeAt);
    expect(new Set(sizes).size).toBe(3);
    expect((await compress(long, "br")).length).toBe(sizes[quality - 3]);
  }
});

test("bodies that wait for a thread are compressed too", async () => {
  const { compress } = createCompression({ threadsMax: 1 });
  const compressed = await Promise.all(Array.from({ length: 8 }, () => compress(body, "br")));
  for (const bytes of compressed) expect(brotliDecompressSync(bytes)).toEqual(body);
});

test("at most threadsMax bodies are compressed at once, and the wait of the others is known", async () => {
  const compression = createCompression({ threadsMax: 1 });
  const compressed = Promise.all(Array.from({ length: 4 }, () => compression.compress(incompressible, "br")));
  await expect.poll(() => compression.queueDelayMs(), { interval: 1 }).toBeGreaterThan(0);
  await compressed;
  expect(compression.queueDelayMs()).toBe(0);
});

test("bodies that are received count for bodiesMax, until they are compressed or fail", async () => {
  const compression = createCompression({ bodiesMax: 2 });
  const broken = Promise.withResolvers<Buffer>();
  const failed = compression.compress(broken.promise, "gzip");
  expect(compression.isFull()).toBe(false);
  const compressed = compression.compress(body, "gzip");
  expect(compression.isFull()).toBe(true);
  await compressed;
  expect(compression.isFull()).toBe(false);
  void compression.compress(new Promise(() => {}), "gzip");
  expect(compression.isFull()).toBe(true);
  broken.reject(new Error("truncated"));
  await expect(failed).rejects.toThrow("truncated");
  expect(compression.isFull()).toBe(false);
});

test("a body that no client waits for any more is not compressed", async () => {
  const { compress } = createCompression({ threadsMax: 1 });
  let isWanted = true;
  const first = compress(Buffer.alloc(1_000_000), "gzip");
  const second = compress(Buffer.alloc(1_000_000), "gzip", () => isWanted);
  isWanted = false;
  await expect(second).rejects.toThrow("No client waits");
  expect((await first).length).toBeLessThan(2_000);
});
