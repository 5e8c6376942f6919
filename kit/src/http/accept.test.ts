import { expect, test } from "vitest";
import { preferEncoding } from "./accept.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["gzip", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip;q=1, br;q=0.5", "gzip"],
  ["*", "br"],
  ["br;q=0, *", "gzip"],
  ["gzip;q=0", undefined],
])("who unpacks %s gets %s", (acceptEncoding, encoding) => {
  expect(preferEncoding(acceptEncoding)).toBe(encoding);
});
