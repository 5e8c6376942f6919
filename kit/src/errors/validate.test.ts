import { expect, test } from "vitest";
import { z } from "zod";
import { AppError } from "./app-error.ts";
import { parseShape, text, toPointer } from "./validate.ts";

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
