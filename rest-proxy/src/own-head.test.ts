import { expect, test } from "vitest";
import { addOwnHead, createOwnHead } from "./own-head.ts";

test("the proxy's own headers come after the service's, a second Link beside the first", () => {
  const own = { ...createOwnHead(), lines: ["Link", "<b>"], ofAnswer: ["Content-Location", "/v1/a"] };
  expect(addOwnHead(["Link", "<a>", "ETag", '"1"'], own)).toEqual([
    ...["Link", "<a>", "ETag", '"1"', "Link", "<b>"],
    ...["Content-Location", "/v1/a"],
  ]);
});

test.each([
  [[], ["Origin", "Accept"], ["Vary", "Origin, Accept"]],
  [["vary", "Accept-Encoding"], ["Origin"], ["Vary", "Origin, Accept-Encoding"]],
  [
    ["Vary", "origin , a", "vary", "A"],
    ["Origin", "Accept"],
    ["Vary", "origin, Accept, A"],
  ],
  [["Vary", "*"], [], ["Vary", "*"]],
])("Vary of both is one line without repeats: %j and %j are %j", (theirs, vary, expected) => {
  expect(addOwnHead([...theirs], { ...createOwnHead(), vary })).toEqual(expected);
});

test.each([
  ["application/json", "application/vnd.tributary.v2+json"],
  ["application/json; charset=utf-8", "application/vnd.tributary.v2+json"],
  ["application/problem+json", "application/problem+json"],
  ["application/jsonl", "application/jsonl"],
])("where the vendor type was asked for, %s is %s", (theirs, expected) => {
  const own = { ...createOwnHead(), mediaType: "application/vnd.tributary.v2+json" };
  expect(addOwnHead(["content-type", theirs], own)).toEqual(["content-type", expected]);
});
