import { expect, test } from "vitest";
import { createDocumentCheck } from "./document-check.ts";

const limits = { depthMax: 3, aliasesMax: 9, rootFieldsMax: 9, directivesMax: 9, listEntriesMax: 9, selectionsMax: 99 };
const check = createDocumentCheck({ limits, documentTokensMax: 100, rememberedMax: 2 });

test("a document within the limits passes, each time", () => {
  for (let i = 0; i < 3; i++) expect(check("{ a { b { c } } }")).toBeUndefined();
});

test("one beyond a limit is refused, each time", () => {
  for (let i = 0; i < 3; i++) expect(check("{ a { b { c { d } } } }")?.code).toBe("DEPTH_LIMIT_EXCEEDED");
});

test("what is no GraphQL, or has too many tokens, is left to the parser", () => {
  for (const text of ["{ a { ", `{ ${"a ".repeat(200)} }`]) expect(check(text)).toBeUndefined();
});

test("a document deeper than the stack is too deep", () => {
  const deep = createDocumentCheck({ limits, documentTokensMax: 1_000_000 });
  expect(deep(`${"{a".repeat(100_000)}${"}".repeat(100_000)}`)?.code).toBe("DEPTH_LIMIT_EXCEEDED");
  expect(deep(`{ a(b: ${"[".repeat(100_000)}${"]".repeat(100_000)}) }`)?.code).toBe("DEPTH_LIMIT_EXCEEDED");
});

test("forgotten documents are measured again", () => {
  for (const name of ["x", "y", "z", "x"]) expect(check(`{ ${name} }`)).toBeUndefined();
});
