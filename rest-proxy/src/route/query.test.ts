import { AppError } from "@tributary/kit/errors/app-error";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readQuery } from "./query.ts";

const known = ["limit", "search", "__proto__"];

test("a query has one canonical spelling, sorted by name", () => {
  expect(readQuery("", known)).toBe("");
  expect(readQuery("&&", known)).toBe("");
  expect(readQuery("search=a+b&limit", known)).toBe("limit=&search=a%20b");
  expect(readQuery("%6cimit=%32&search=x=y", known)).toBe("limit=2&search=x%3Dy");
});

test("an unknown name is rejected, and the error lists the known ones", () => {
  expect(() => readQuery("limits=1", ["limit"])).toThrow(
    'There is no query parameter "limits" here. This path accepts limit.',
  );
  expect(() => readQuery("a=1", [])).toThrow("This path accepts none.");
  expect(() => readQuery(`${"x".repeat(9_000)}=1`, [])).toThrow(/^.{64,130}$/);
});

test("every invalid parameter is reported once, by the name that was sent", () => {
  const query = `a=1&limit=1&limit=2&limit=3&search=%ff&%ff=1&a=2&${"x".repeat(9_000)}=1`;
  const error = errorOf(() => readQuery(query, known));
  expect([error.code, error.message]).toEqual(["MALFORMED_REQUEST", "5 query parameters are not acceptable."]);
  expect(error.parameterProblems?.map(({ parameter, code }) => [parameter, code])).toEqual([
    ["a", "unknown_parameter"],
    ["limit", "repeated"],
    ["search", "bad_encoding"],
    ["%ff", "bad_encoding"],
    ["x".repeat(64), "unknown_parameter"],
  ]);
});

test("at most 100 invalid parameters are reported", () => {
  const query = Array.from({ length: 1_000 }, (_, index) => `p${index}=1`).join("&");
  const error = errorOf(() => readQuery(query, known));
  expect([error.code, error.parameterProblems?.length]).toEqual(["UNKNOWN_PARAMETER", 100]);
});

test("the service parses the canonical query to the same values", () => {
  const value = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed() && !text.includes("\0"));
  fc.assert(
    fc.property(value, value, (limit, search) => {
      const written = readQuery(new URLSearchParams({ limit, search }).toString(), known);
      expect(Object.fromEntries(new URLSearchParams(written))).toEqual({ limit, search });
      expect(readQuery(written, known)).toBe(written);
      expect(written).toMatch(/^[\x21\x24-\x7e]*$/);
    }),
  );
});

function errorOf(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}
