import { expect, test } from "vitest";
import {
  findHeader,
  findHeaderIndex,
  forEachHeader,
  hasHeader,
  joinHeaderLines,
  listHeaderValues,
  parseTokens,
  withoutHeaders,
} from "./raw-headers.ts";

const headers = ["Vary", "Accept", "ETag", '"1"', "VARY", "Origin", "X-ETag", "etag"];

test("a field is found by its name in any case, never by a value", () => {
  expect(findHeader(headers, "etag")).toBe('"1"');
  expect(findHeader(headers, "vary")).toBe("Accept");
  expect(findHeader(headers, "accept")).toBeUndefined();
  expect([findHeaderIndex(headers, "etag"), findHeaderIndex(headers, "origin")]).toEqual([2, -1]);
  expect([hasHeader(headers, "x-etag"), hasHeader(headers, "age")]).toEqual([true, false]);
});

test("repeated lines stay in order, and are joined as one list (RFC 9110, 5.3)", () => {
  expect(listHeaderValues(headers, "vary")).toEqual(["Accept", "Origin"]);
  expect(joinHeaderLines(headers, "vary")).toBe("Accept, Origin");
  expect(joinHeaderLines(headers, "age")).toBeUndefined();
});

test("fields are dropped by their names in lower case, the others remain as they are", () => {
  expect(withoutHeaders(headers, (name) => name === "vary")).toEqual(["ETag", '"1"', "X-ETag", "etag"]);
});

test("each line is visited with its name as it was sent", () => {
  const lines: string[] = [];
  forEachHeader(headers, (name, value) => void lines.push(`${name}: ${value}`));
  expect(lines).toEqual(["Vary: Accept", 'ETag: "1"', "VARY: Origin", "X-ETag: etag"]);
});

test("tokens are in lower case; empty elements are ignored (RFC 9110, 5.6.1)", () => {
  expect(parseTokens("Keep-Alive, , X-Hop,")).toEqual(["keep-alive", "x-hop"]);
  expect(parseTokens(undefined)).toEqual([]);
});
