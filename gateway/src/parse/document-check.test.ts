import { print } from "graphql";
import { expect, test } from "vitest";
import { checkDocument } from "./document-check.ts";

const limits = {
  depthMax: 3,
  aliasesMax: 9,
  rootFieldsMax: 9,
  directivesMax: 9,
  listEntriesMax: 9,
  selectionsMax: 99,
  charactersMax: 99,
};
const check = (text: string, documentTokensMax = 100) => checkDocument(text, { limits, documentTokensMax });

test("a document within the limits passes, and comes without locations", () => {
  const { document, exceeded } = check("{ a { b { c } } }");
  expect(exceeded).toBeUndefined();
  expect(document && print(document).replaceAll(/\s+/g, " ")).toBe("{ a { b { c } } }");
  expect(document?.loc).toBeUndefined();
});

test("a document beyond a limit is rejected", () => {
  expect(check("{ a { b { c { d } } } }")).toEqual({
    exceeded: expect.objectContaining({ code: "DEPTH_LIMIT_EXCEEDED" }),
  });
});

test("a syntax error, and too many tokens, are left to the parser of Apollo Server", () => {
  for (const text of ["{ a { ", `{ ${"a ".repeat(200)} }`]) expect(check(text)).toEqual({});
});

test("a document deeper than the stack is too deep", () => {
  for (const text of [
    `${"{a".repeat(100_000)}${"}".repeat(100_000)}`,
    `{ a(b: ${"[".repeat(100_000)}${"]".repeat(100_000)}) }`,
  ])
    expect(check(text, 1_000_000).exceeded?.code).toBe("DEPTH_LIMIT_EXCEEDED");
});
