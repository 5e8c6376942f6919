import { expect, test } from "vitest";
import { isRowId, onlyRowIds } from "./row-id.ts";

test("a row id is a positive bigint in canonical decimal form", () => {
  expect(
    onlyRowIds(["1", "9223372036854775807", "0", "01", "-1", "1.0", "9223372036854775808", " 1", "", "１"]),
  ).toEqual(["1", "9223372036854775807"]);
  expect(isRowId("99999999999999999999")).toBe(false);
});
