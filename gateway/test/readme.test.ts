import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeEnvironment } from "@tributary/kit/process/env";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { codes } from "../src/errors/codes.ts";

const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");

/** Cells of every table row whose first cell is code in capitals. */
const rows = readme.matchAll(/^\| `([A-Z][A-Z0-9_<>]*)` \|(.*)\|$/gm);
const table = new Map([...rows].map(([, name = "", rest = ""]) => [name, rest.split("|").map((cell) => cell.trim())]));

test.each(describeEnvironment(readConfig))(
  "the README's table has $name with its default and its range",
  ({ name, fallback, range, why }) => {
    const [defaultCell = "", rangeCell = "", whyCell = ""] = table.get(name) ?? [];
    expect(defaultCell.replaceAll("`", "")).toBe(fallback?.replaceAll(",", ", ") ?? "–");
    if (range !== undefined) expect(rangeCell).toBe(range.replace("an integer from ", "").replace("one of ", ""));
    expect(whyCell).toBe(why);
  },
);

test.each(Object.entries(codes))(
  "the README's list has the code %s with its stage and status",
  (code, { stage, status }) => {
    expect(table.get(code)?.slice(0, 2)).toEqual([stage, String(status)]);
  },
);

test("the README names no variable and no code that there is not", () => {
  const known = new Set([
    ...describeEnvironment(readConfig).map(({ name }) => name),
    ...Object.keys(codes),
    "SUBGRAPH_URL_<NAME>",
    "SUBGRAPH_KEY_CHECK_<NAME>",
  ]);
  expect([...table.keys()].filter((name) => !known.has(name))).toEqual([]);
});
