import fc from "fast-check";
import { test } from "vitest";
import { parseCacheControl } from "../policy.ts";
import { toStoredHead } from "../entry.ts";
import { parseDictionary, parseList } from "../structured-fields.ts";

/** Pieces of valid and invalid header values. */
const pieces = [
  "a",
  "b",
  "0",
  "12",
  "-",
  ".",
  ",",
  ";",
  " ",
  "\t",
  '"',
  "\\",
  "(",
  ")",
  "?1",
  ":",
  "@",
  "%",
  "*",
  "&",
  "ü",
  "=",
  "max-age",
  "=10",
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(""));

test("no header of an origin makes a parser throw", () => {
  fc.assert(
    fc.property(text, text, text, (cacheControl, targeted, groups) => {
      parseList(targeted);
      const headers = [
        "Cache-Control",
        cacheControl,
        "CDN-Cache-Control",
        targeted,
        "Cache-Groups",
        groups,
        "Age",
        groups,
      ];
      const received = {
        status: 200,
        headers,
        requestedAtMs: 0,
        receivedAtMs: 0,
        wasAuthorized: false,
        varyValueOf: () => undefined,
        heuristicSecondsMax: 10,
      };
      toStoredHead(received, ["cdn-cache-control"]);
    }),
  );
});

test("a no-store after a comma is found after any text", () => {
  fc.assert(
    fc.property(
      text.filter((before) => !before.includes('"')),
      (before) => parseCacheControl(`${before}, no-store`).has("no-store"),
    ),
  );
});

test("a dictionary with an invalid last member is invalid", () => {
  fc.assert(fc.property(text, (before) => parseDictionary(`${before}, &&`) === undefined));
});
