import { expect, test } from "vitest";
import { z } from "zod";
import { readConnectionRequest, readFirst, toConnection } from "./lists/connection.ts";
import { createCursors } from "./lists/cursor.ts";
import { AppError } from "./errors/app-error.ts";
import { isRowId, onlyRowIds } from "./postgres/row-id.ts";
import { createKeyset, toPage } from "./lists/keyset.ts";
import { createLog } from "./process/log.ts";
import { readRequestId } from "./http/request-id.ts";
import { readShape, text, toPointer } from "./errors/validate.ts";
import { toWordPrefixQuery } from "./postgres/word-search.ts";
import { Writable } from "node:stream";

test("a row's id is a bigint above zero, spelt one way", () => {
  expect(
    onlyRowIds(["1", "9223372036854775807", "0", "01", "-1", "1.0", "9223372036854775808", " 1", "", "１"]),
  ).toEqual(["1", "9223372036854775807"]);
  expect(isRowId("99999999999999999999")).toBe(false);
});

test("a keyset reads one row more than it shows", () => {
  const request = { limit: 2, position: { direction: "prev" as const, id: "9" } };
  expect(createKeyset("id", "$1", request)).toMatchObject({
    where: "id > $1",
    orderBy: "id asc",
    direction: "prev",
    id: "9",
    limit: 3,
  });
  expect(createKeyset("sku", "$1", { limit: 2 }, "ascending")).toMatchObject({
    where: "$1 is null",
    orderBy: "sku asc",
    direction: "first",
    id: null,
  });
  expect(toPage([10, 11, 12], request)).toEqual({ items: [11, 10], hasNext: true, hasPrev: true });
  expect(toPage([10, 11], request)).toEqual({ items: [11, 10], hasNext: true, hasPrev: false });
  expect(toPage([3, 2, 1], { limit: 2 })).toEqual({ items: [3, 2], hasNext: true, hasPrev: false });
});

test("a connection has an edge for each node, and its ends as cursors", () => {
  const cursors = createCursors(["a key for this test"]);
  const connection = toConnection({ items: ["b", "a"], hasNext: true, hasPrev: false }, cursors, "letters", (it) => it);
  expect(connection.nodes).toEqual(["b", "a"]);
  expect(connection.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  expect(readConnectionRequest({ first: 5, after: connection.pageInfo.endCursor }, cursors, "letters")).toEqual({
    limit: 5,
    position: { direction: "next", id: "a" },
  });
  expect(
    toConnection({ items: [], hasNext: false, hasPrev: false }, cursors, "letters", String).pageInfo.endCursor,
  ).toBeNull();
  expect(readFirst(null)).toBe(20);
});

test("problems point into the value as it was sent", () => {
  const shape = z.strictObject({
    lines: z.array(z.strictObject({ sku: text({ min: 1, max: 3, what: "A SKU" }) })),
    name: z.string(),
  });
  const value = { lines: [{ sku: "ok" }, { sku: "longer" }, { "a/b~c": 1, sku: "\u0000" }], "sp ace": 1 };
  const problems = problemsOf(() => readShape(shape, value));
  expect(problems).toEqual([
    ["#/lines/1/sku", "length"],
    ["#/lines/2/sku", "bad_characters"],
    ["#/lines/2/a~1b~0c", "unknown_field"],
    ["#/name", "required"],
    ["#/sp%20ace", "unknown_field"],
  ]);
  expect(toPointer([])).toBe("#");
});

test("what is missing is required, and what is of another type is not said to be missing", () => {
  const shape = z.strictObject({ count: z.number(), on: z.boolean(), name: z.string(), of: z.strictObject({}) });
  expect(problemsOf(() => readShape(shape, { count: "1", on: null, of: [] }))).toEqual([
    ["#/count", "invalid_type"],
    ["#/on", "invalid_type"],
    ["#/name", "required"],
    ["#/of", "invalid_type"],
  ]);
});

test("a text is counted in characters, trimmed, and holds none that cannot be kept", () => {
  const shape = text({ min: 1, max: 3, what: "It" });
  expect(readShape(shape, " 😀😀😀 ")).toBe("😀😀😀");
  expect(readShape(shape, "a\nb")).toBe("a\nb");
  for (const bad of ["", "   ", "abcd", "\u0000", "\ud800", 1, null, {}])
    expect(problemsOf(() => readShape(shape, bad))).toHaveLength(1);
});

test("an input that has nothing right is not answered at endless length", () => {
  const problems = problemsOf(() =>
    readShape(
      z.array(z.number()),
      Array.from({ length: 5_000 }, () => "x"),
    ),
  );
  expect(problems).toHaveLength(100);
  const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 1]));
  expect(problemsOf(() => readShape(z.strictObject({}), fields))).toHaveLength(100);
});

test("a search is its words, each quoted, at most eight", () => {
  expect(toWordPrefixQuery(" Ada  LOVE ")).toBe("'Ada':* & 'LOVE':*");
  expect(toWordPrefixQuery(String.raw`';drop \':*`)).toBe(String.raw`''';drop':* & '\\'':*':*`);
  expect(toWordPrefixQuery("a b c d e f g h i j").split("&")).toHaveLength(8);
});

test("a request id that is fit for logs is kept, any other is replaced", () => {
  expect(readRequestId("abc-123")).toBe("abc-123");
  for (const bad of [undefined, "", "a b", "x".repeat(129), "a\nb", ["a", "b"]])
    expect(readRequestId(bad)).toMatch(/^[\da-f-]{36}$/);
});

test("a log line is JSON with its time, level and name, and without what is secret", () => {
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk, _, done) => (lines.push(String(chunk)), done()) });
  createLog({ name: "users", level: "info", destination }).info(
    { token: "sesame", headers: { authorization: "Bearer x" } },
    "hello",
  );
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    name: "users",
    level: "info",
    msg: "hello",
    time: expect.stringMatching(/Z$/),
  });
  expect(lines[0]).not.toMatch(/sesame|Bearer/);
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
