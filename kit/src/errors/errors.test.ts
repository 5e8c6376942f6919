import { GraphQLError } from "graphql";
import pg from "pg";
import { expect, test } from "vitest";
import { z } from "zod";
import { AppError } from "./app-error.ts";
import { describeError } from "./describe-error.ts";
import { scrubFields, scrubText } from "./scrub.ts";
import { parseShape, text, toPointer } from "./validate.ts";

test("an error is described with its class, code, frames and causes", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:5432"), { code: "ECONNREFUSED", port: 5432 });
  const description = describeError(new AppError("SERVICE_UNAVAILABLE", "Try again shortly.", { cause }));
  expect(description).toMatchObject({
    type: "AppError",
    message: "Try again shortly.",
    code: "SERVICE_UNAVAILABLE",
    stack: expect.stringContaining("errors.test.ts"),
    cause: { message: "connect ECONNREFUSED 10.0.0.1:5432", code: "ECONNREFUSED", port: 5432 },
  });
  expect(description.stack).not.toContain("Try again");
});

const inJson = `{"password":"plum-secret"}`;

test.each([
  ["invalid JSON with quotes in it", captured(() => JSON.parse(`${inJson} ${inJson}`))],
  ["a value that GraphQL rejects", new GraphQLError(`Int cannot represent non-integer value: "plum-secret"`)],
  ["a path that cannot be decoded", new URIError(`Failed to decode param '%E0plum-secret'`)],
  ["a body parser's error", Object.assign(new Error("no"), { body: inJson, expose: true })],
  ["a value that PostgreSQL rejects", ofPostgres("22P02", `invalid input syntax for type uuid: "plum-secret"`)],
  [
    "a row that PostgreSQL rejects",
    ofPostgres("23505", "duplicate key", { detail: "Key (name)=(plum-secret) exists" }),
  ],
  ["a thrown text", "plum-secret"],
  ["a cause", new Error("above", { cause: new SyntaxError(`Unexpected "plum-secret"`) })],
  ["one error of an AggregateError", new AggregateError([new SyntaxError(`Unexpected "plum-secret"`)], "all of them")],
])("%s is described without client data", (_, error) => {
  expect(JSON.stringify(describeError(error))).not.toContain("plum-secret");
});

test("email addresses and signed tokens are removed from all texts", () => {
  const { message } = describeError(
    new Error("no ada.l+x@mail.example.com with eyJhbGciOiJF.eyJzdWIiOiI.c2ln-x_ here"),
  );
  expect(message).toBe("no <email> with <token> here");
});

test("a cyclic chain of causes is cut", () => {
  const loop = new Error("again");
  loop.cause = loop;
  expect(JSON.stringify(describeError(loop)).match(/"again"/g)).toHaveLength(6);
});

function captured(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function ofPostgres(code: string, message: string, more: object = {}): Error {
  return Object.assign(new pg.DatabaseError(message, message.length, "error"), { code, ...more });
}

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
])("%j becomes %j", (text, scrubbed) => {
  expect(scrubText(text)).toBe(scrubbed);
});

test("list length, depth and text length are bounded", () => {
  const deep = { a: { b: { c: { d: { e: { f: "x" } } } } } };
  expect(JSON.stringify(scrubFields(deep))).toContain('"e":"…"');
  expect(scrubFields({ list: Array.from({ length: 1_000 }, () => 1) })["list"]).toHaveLength(100);
  expect(scrubText("x".repeat(10_000))).toHaveLength(4_097);
});

test("pointers refer to the value as it was sent", () => {
  const shape = z.strictObject({
    lines: z.array(z.strictObject({ sku: text({ min: 1, max: 3, what: "A SKU" }) })),
    name: z.string(),
  });
  const value = { lines: [{ sku: "ok" }, { sku: "longer" }, { "a/b~c": 1, sku: "\u0000" }], "sp ace": 1 };
  const problems = problemsOf(() => parseShape(shape, value));
  expect(problems).toEqual([
    ["#/lines/1/sku", "length"],
    ["#/lines/2/sku", "bad_characters"],
    ["#/lines/2/a~1b~0c", "unknown_field"],
    ["#/name", "required"],
    ["#/sp%20ace", "unknown_field"],
  ]);
  expect(toPointer([])).toBe("#");
});

test("a missing value is `required`, one of another type is `invalid_type`", () => {
  const shape = z.strictObject({ count: z.number(), on: z.boolean(), name: z.string(), of: z.strictObject({}) });
  expect(problemsOf(() => parseShape(shape, { count: "1", on: null, of: [] }))).toEqual([
    ["#/count", "invalid_type"],
    ["#/on", "invalid_type"],
    ["#/name", "required"],
    ["#/of", "invalid_type"],
  ]);
});

test("a text is trimmed, counted in code points, and has only characters that can be stored", () => {
  const shape = text({ min: 1, max: 3, what: "It" });
  expect(parseShape(shape, " 😀😀😀 ")).toBe("😀😀😀");
  expect(parseShape(shape, "a\nb")).toBe("a\nb");
  for (const bad of ["", "   ", "abcd", "\u0000", "\ud800", 1, null, {}])
    expect(problemsOf(() => parseShape(shape, bad))).toHaveLength(1);
});

test("at most 100 problems are reported", () => {
  const problems = problemsOf(() =>
    parseShape(
      z.array(z.number()),
      Array.from({ length: 5_000 }, () => "x"),
    ),
  );
  expect(problems).toHaveLength(100);
  const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
  expect(problemsOf(() => parseShape(z.strictObject({}), fields))).toHaveLength(100);
});

function problemsOf(run: () => unknown): readonly unknown[] {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return (error.problems ?? []).map(({ pointer, code }) => [pointer, code]);
    throw error;
  }
  return [];
}
