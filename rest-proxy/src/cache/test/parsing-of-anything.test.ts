import fc from "fast-check";
import { test } from "vitest";
import { parseCacheControl } from "../policy.ts";
import { toStoredHead } from "../entry.ts";
import { parseDictionary, parseList } from "../structured-fields.ts";

/** What headers are made of, and what breaks their readers. */
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

test("nothing that an origin says makes a reader throw", () => {
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
      const answer = {
        status: 200,
        headers,
        requestedAtMs: 0,
        receivedAtMs: 0,
        wasAuthorized: false,
        selecting: () => undefined,
      };
      toStoredHead(answer, { targetedFields: ["cdn-cache-control"], heuristicSecondsMax: 10 });
    }),
  );
});

test("whatever stands before it, a no-store behind a comma is seen", () => {
  fc.assert(
    fc.property(
      text.filter((before) => !before.includes('"')),
      (before) => parseCacheControl(`${before}, no-store`).has("no-store"),
    ),
  );
});

test("a dictionary with broken members at its end is no dictionary", () => {
  fc.assert(fc.property(text, (before) => parseDictionary(`${before}, &&`) === undefined));
});
