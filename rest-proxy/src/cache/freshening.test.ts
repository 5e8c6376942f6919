import { expect, test } from "vitest";
import { freshenedHeaders } from "./freshening.ts";

test("a 304 replaces the fields that it has, except those about the stored body (RFC 9111, 3.2)", () => {
  const stored = [
    "ETag",
    '"a"',
    "X",
    "1",
    "X",
    "2",
    "Kept",
    "k",
    "Age",
    "5",
    "Content-Length",
    "3",
    "Content-Encoding",
    "br",
  ];
  const update = ["etag", '"b"', "x", "3", "Content-Length", "0", "New", "n", "Content-Encoding", "gzip"];
  expect(freshenedHeaders(stored, update)).toEqual([
    ...["ETag", '"a"', "Kept", "k", "Content-Length", "3", "Content-Encoding", "br"],
    ...["x", "3", "New", "n"],
  ]);
});
