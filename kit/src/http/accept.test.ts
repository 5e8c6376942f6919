import { expect, test } from "vitest";
import { chooseContentCoding, chooseMediaType, parseAccept } from "./accept.ts";

test.each([
  ["gzip", [["gzip", 1]]],
  [
    "br;q=0.5 , GZIP; Q=0.25",
    [
      ["br", 0.5],
      ["gzip", 0.25],
    ],
  ],
  ['application/json;q="0.5"', [["application/json", 0.5]]],
  ['text/html;title="a,b;q=0.1"', [["text/html", 1]]],
  ['text/html;title="a\\",b";q=0.2', [["text/html", 0.2]]],
  [
    ", gzip,, br ,",
    [
      ["gzip", 1],
      ["br", 1],
    ],
  ],
  ["gzip;q=.2", [["gzip", 0.2]]],
  ["gzip;q=nonsense", [["gzip", 1]]],
  ["gzip;q=2", [["gzip", 1]]],
  ["gzip;q=", [["gzip", 1]]],
  ["", []],
  [" , ", []],
])("%s has these names and weights (RFC 9110, 5.6.1, 5.6.4 and 12.4.2)", (header, expected) => {
  expect(parseAccept(header).map(({ name, quality }) => [name, quality])).toEqual(expected);
});

test("parameters are read by name in any case, without their quotes", () => {
  const [range] = parseAccept('application/json; Version="\\2";q=0.5');
  expect([range?.parameter("version"), range?.parameter("q"), range?.parameter("profile")]).toEqual([
    "2",
    "0.5",
    undefined,
  ]);
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate, zstd", undefined],
  ["gzip", "gzip"],
  ["GZIP;q=0.5", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip;q=1, br;q=0.5", "gzip"],
  ['gzip;q=1, br;q="0.5"', "gzip"],
  ["*", "br"],
  ["br;q=0, *", "gzip"],
  ["*, br;q=0", "gzip"],
  ["*;q=0", undefined],
  ["gzip;q=0", undefined],
  ["gzip, gzip;q=0", "gzip"],
  ["identity;q=1, gzip;q=0.5", undefined],
  ["br;q=0.5, identity", undefined],
  ["br, identity", "br"],
  ["identity;q=0.5, *;q=0.2", undefined],
  ["identity;q=0, gzip;q=0.1", "gzip"],
])("Accept-Encoding %s selects %s (RFC 9110, 12.5.3)", (acceptEncoding, encoding) => {
  expect(chooseContentCoding(acceptEncoding)).toBe(encoding);
});

test.each([
  [undefined, "application/json"],
  ["", "application/json"],
  [",", "application/json"],
  ["*/*", "application/json"],
  ["text/html", "text/html"],
  ["text/*", "text/html"],
  ["TEXT/HTML", "text/html"],
  ['text/html;q="0.5", application/json;q=0.4', "text/html"],
  ['application/json;q="0.5"', "application/json"],
  ['text/html;title="application/json,"', "text/html"],
  ["application/json;q=0, */*", "text/html"],
  ["*/*, application/json;q=0.1", "text/html"],
  ["text/html, application/json", "text/html"],
  ["*/*, text/html", "text/html"],
  ["application/json;q=0", undefined],
  ["image/*", undefined],
])("Accept %s selects %s (RFC 9110, 12.5.1)", (accept, type) => {
  expect(chooseMediaType(accept, ["application/json", "text/html"])).toBe(type);
});
