import { expect, test } from "vitest";
import { releaseBytes } from "./release-bytes.ts";

test("a long buffer is empty afterwards, also if it is released twice, and so is a part of it", () => {
  const bytes = Buffer.alloc(100_000);
  const part = bytes.subarray(10, 99_000);
  for (const released of [part, bytes, bytes]) releaseBytes(released);
  expect([part.length, bytes.length, bytes.buffer.byteLength]).toEqual([0, 0, 0]);
});

test("the pool of short buffers, and memory that threads share, remain", () => {
  const pooled = [Buffer.from("short"), Buffer.allocUnsafe(Buffer.poolSize / 2 - 1).fill("a")];
  for (const bytes of pooled) releaseBytes(bytes);
  expect(pooled.map(({ length }) => length)).toEqual([5, Buffer.poolSize / 2 - 1]);
  const shared = Buffer.from(new SharedArrayBuffer(100_000));
  releaseBytes(shared);
  expect(shared.length).toBe(100_000);
});
