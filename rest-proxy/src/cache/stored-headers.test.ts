import { expect, test } from "vitest";
import { freshenedHeaders, storedHeaders } from "./stored-headers.ts";

test("what was for the connection, or is named to be kept out, is not stored (RFC 9111, 3.1)", () => {
  const headers = [
    "Connection",
    "A, close",
    "a",
    "1",
    "B",
    "2",
    "Keep-Alive",
    "x",
    "Transfer-Encoding",
    "chunked",
    "C",
    "3",
  ];
  expect(storedHeaders([...headers, "Proxy-Authenticate", "Basic"], ["c"])).toEqual(["B", "2"]);
});

test("fields that come several times are stored several times", () => {
  expect(storedHeaders(["Link", "<a>", "Link", "<b>"], [])).toEqual(["Link", "<a>", "Link", "<b>"]);
});

test("a 304 replaces what it brings and leaves what speaks of the stored body (RFC 9111, 3.2)", () => {
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
