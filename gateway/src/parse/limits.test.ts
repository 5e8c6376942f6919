import { parse } from "graphql";
import { expect, test } from "vitest";
import { findExceededLimit, type OperationLimits } from "./limits.ts";

const limits: OperationLimits = {
  depthMax: 3,
  aliasesMax: 3,
  rootFieldsMax: 4,
  directivesMax: 3,
  listEntriesMax: 3,
  selectionsMax: 20,
  charactersMax: 100,
};

const excess = (text: string) => findExceededLimit(parse(text), limits)?.code;

test.each([
  ["{ a { b { c } } }", undefined],
  ["{ a { b { c { d } } } }", "DEPTH_LIMIT_EXCEEDED"],
  ["{ a { ...B } } fragment B on T { b { c { d } } }", "DEPTH_LIMIT_EXCEEDED"],
  ["{ a { ... { ... { b { ... { c } } } } } }", undefined],
  ["{ x: a y: a z: a }", undefined],
  ["{ x: a y: a z: a w: a }", "ALIAS_LIMIT_EXCEEDED"],
  ["{ a { ...X ...X } } fragment X on T { x: b y: b }", "ALIAS_LIMIT_EXCEEDED"],
  ["{ a b c d }", undefined],
  ["{ a b c d e }", "ROOT_FIELD_LIMIT_EXCEEDED"],
  ["{ ...R ...R a } fragment R on Query { b c }", "ROOT_FIELD_LIMIT_EXCEEDED"],
  ["query @x @x { a @x }", undefined],
  ["query @x @x { a @x @x }", "DIRECTIVE_LIMIT_EXCEEDED"],
  ["{ ... @x { ...F @x } } fragment F on T @x { a @x }", "DIRECTIVE_LIMIT_EXCEEDED"],
  ["{ a(b: [1, 2, 3]) }", undefined],
  ["{ a(b: [1, 2, 3, 4]) }", "LIST_LIMIT_EXCEEDED"],
  ["{ a(b: { c: [[1, 2, 3, 4]] }) }", "LIST_LIMIT_EXCEEDED"],
  ["{ a @x(b: [1, 2, 3, 4]) }", "LIST_LIMIT_EXCEEDED"],
  [`{ a(b: "${"x".repeat(98)}") }`, undefined],
  [`{ a(b: "${"x".repeat(99)}") }`, "LENGTH_LIMIT_EXCEEDED"],
  [`{ ...F ...F } fragment F on T { ${"x".repeat(51)} }`, "LENGTH_LIMIT_EXCEEDED"],
  [`{ a @x(b: { c: ["${"x".repeat(99)}"] }) }`, "LENGTH_LIMIT_EXCEEDED"],
  [`{ ... on ${"T".repeat(101)} { a } }`, "LENGTH_LIMIT_EXCEEDED"],
  ["query A { a } query B { a { b { c { d } } } }", "DEPTH_LIMIT_EXCEEDED"],
])("%s: %s", (text, code) => {
  expect(excess(text)).toBe(code);
});

test("fragments are counted wherever they are spread, and measured once", () => {
  // A hundred fragments that expand to 2^100 selections.
  const levels = Array.from({ length: 100 }, (_, i) => `fragment F${i} on T { ...F${i + 1} ...F${i + 1} }`);
  expect(excess(`{ a { ...F0 } } ${levels.join(" ")} fragment F100 on T { b }`)).toBe("SELECTION_LIMIT_EXCEEDED");
});

test("measuring ends for fragments in a cycle and for missing fragments", () => {
  expect(excess("{ ...A } fragment A on T { a { ...B } } fragment B on T { ...A }")).toBeUndefined();
  expect(excess("{ ...Missing }")).toBeUndefined();
});

test("the message contains the limit", () => {
  expect(findExceededLimit(parse("{ a b c d e }"), limits)?.message).toBe("An operation has at most 4 root fields.");
});
