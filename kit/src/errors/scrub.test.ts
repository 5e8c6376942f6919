import { expect, test } from "vitest";
import { scrubFields, scrubText } from "./scrub.ts";

test("nested fields are scrubbed; numbers, errors and plain words remain", () => {
  const error = new Error("x");
  const fields = {
    status: 200,
    path: "/v1/things/1",
    err: error,
    list: [{ text: "to ada@example.com" }],
    at: new Date(0),
  };
  expect(scrubFields(fields)).toEqual({
    status: 200,
    path: "/v1/things/1",
    err: error,
    list: [{ text: "to <email>" }],
    at: "1970-01-01T00:00:00.000Z",
  });
});

test.each([
  ["ada@example.com", "<email>"],
  ["postgres://ada:secret@db/things", "postgres://<credentials>@db/things"],
  ["eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2lnbmVk", "<token>"],
  ["Bearer\tc2VjcmV0", "Bearer <token>"],
  ["basic YWRhOnNlY3JldA==", "basic <token>"],
  ["/v1/things/:id", "/v1/things/:id"],
  ["plain words", "plain words"],
])("%j becomes %j", (text, scrubbed) => {
  expect(scrubText(text)).toBe(scrubbed);
});

test("list length, depth and text length are bounded", () => {
  const deep = { a: { b: { c: { d: { e: { f: "x" } } } } } };
  expect(JSON.stringify(scrubFields(deep))).toContain('"e":"…"');
  expect(scrubFields({ list: Array.from({ length: 1_000 }, () => 1) })["list"]).toHaveLength(100);
  expect(scrubText("x".repeat(10_000))).toHaveLength(4_097);
});
