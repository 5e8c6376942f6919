import { parse, print } from "graphql";
import { describe, expect, test } from "vitest";
import { parseWithinLimits } from "./document-check.ts";
import { findExcessiveMerging } from "./field-merging-cost.ts";
import { type OperationLimits, findExceededLimit } from "./limits.ts";

describe("limits of an operation", () => {
  const limits: OperationLimits = {
    definitionsMax: 102,
    variablesMax: 3,
    depthMax: 3,
    aliasesMax: 3,
    rootFieldsMax: 4,
    pageEntriesMax: 9,
    directivesMax: 3,
    listEntriesMax: 3,
    valueDepthMax: 3,
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
    ["{ a(b: [{ c: [1] }]) }", undefined],
    ["{ a(b: [{ c: [[1]] }]) }", "DEPTH_LIMIT_EXCEEDED"],
    ["{ a(b: [[[{}]]]) }", "DEPTH_LIMIT_EXCEEDED"],
    ["{ ... @x(b: [[[[]]]]) { a } }", "DEPTH_LIMIT_EXCEEDED"],
    ["{ ...F } fragment F on T { a(b: [[[[]]]]) }", "DEPTH_LIMIT_EXCEEDED"],
    ["{ a } fragment F on T { a(b: [[[[]]]]) }", "DEPTH_LIMIT_EXCEEDED"],
    ["{ a } fragment F on T { a { b { c { d } } } }", undefined],
    ["query ($a: T = [[[[]]]]) { a }", "DEPTH_LIMIT_EXCEEDED"],
    ["query ($a: [[[T!]!]!]!) { a }", undefined],
    ["query ($a: [[[[T]]]]) { a }", "DEPTH_LIMIT_EXCEEDED"],
    [`{ a(b: "${"x".repeat(98)}") }`, undefined],
    [`{ a(b: "${"x".repeat(99)}") }`, "LENGTH_LIMIT_EXCEEDED"],
    [`{ ...F ...F } fragment F on T { ${"x".repeat(51)} }`, "LENGTH_LIMIT_EXCEEDED"],
    [`{ a @x(b: { c: ["${"x".repeat(99)}"] }) }`, "LENGTH_LIMIT_EXCEEDED"],
    [`{ ... on ${"T".repeat(101)} { a } }`, "LENGTH_LIMIT_EXCEEDED"],
    ["query A { a } query B { a { b { c { d } } } }", "DEPTH_LIMIT_EXCEEDED"],
    ["query ($a: T $b: T $c: T) { a }", undefined],
    ["query ($a: T $b: T $c: T $d: T) { a }", "VARIABLE_LIMIT_EXCEEDED"],
    ["query ($a: T @x @x @x @x) { a }", "DIRECTIVE_LIMIT_EXCEEDED"],
    ["query ($a: T = [1, 2, 3, 4]) { a }", "LIST_LIMIT_EXCEEDED"],
    ["{ a(b: { c: 1, d: 2, e: 3, f: 4 }) }", "LIST_LIMIT_EXCEEDED"],
    [`query ($a: T = "${"x".repeat(101)}") { a }`, "LENGTH_LIMIT_EXCEEDED"],
    [Array.from({ length: 103 }, (_, i) => `query Q${i} { a }`).join(" "), "DEFINITION_LIMIT_EXCEEDED"],
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
});

describe("the check of a document", () => {
  const limits = {
    definitionsMax: 9,
    variablesMax: 9,
    depthMax: 3,
    aliasesMax: 9,
    rootFieldsMax: 9,
    pageEntriesMax: 9,
    directivesMax: 9,
    listEntriesMax: 9,
    valueDepthMax: 9,
    selectionsMax: 99,
    charactersMax: 99,
  };
  const check = (text: string, documentTokensMax = 100) => parseWithinLimits(text, { limits, documentTokensMax });

  test("a document within the limits passes, and comes without locations", () => {
    const checked = check("{ a { b { c } } }");
    const document = "document" in checked ? checked.document : undefined;
    expect(document && print(document).replaceAll(/\s+/g, " ")).toBe("{ a { b { c } } }");
    expect(document?.loc).toBeUndefined();
  });

  test("a syntax error, and too many tokens, have their location", () => {
    for (const text of ["{\n ]", `{\n ${"a".repeat(200).split("").join(" ")}`])
      expect(check(text)).toMatchObject({ syntaxError: { locations: [{ line: 2 }] } });
  });

  test.each([
    ["line breaks", (count: number) => `{ a(b: """${"\n".repeat(count - 1)}\r""") }`],
    ["backslashes", (count: number) => `{ a(b: "${String.raw`\n`.repeat(count)}") }`],
    ["lines outside of strings", (count: number) => `${"\n".repeat(count)}{ a }`],
  ])("a document has at most 20,000 %s", (_, write) => {
    const message = expect.stringContaining("at most 20000 line breaks and backslashes");
    expect(check(write(20_001))).toEqual({ exceeded: { code: "LENGTH_LIMIT_EXCEEDED", message } });
    expect(check(write(20_000))).not.toMatchObject({ exceeded: { message } });
  });

  test("a document deeper than the stack is too deep", () => {
    for (const text of [
      `${"{a".repeat(100_000)}${"}".repeat(100_000)}`,
      `{ a(b: ${"[".repeat(100_000)}${"]".repeat(100_000)}) }`,
    ])
      expect(check(text, 1_000_000)).toMatchObject({ exceeded: { code: "DEPTH_LIMIT_EXCEEDED" } });
  });
});

describe("the cost of merging fields", () => {
  const many = (count: number, write: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => write(i)).join(" ");
  const find = (text: string) => findExcessiveMerging(parse(text))?.code;

  test.each([
    ["one field", `{ books { ${"title ".repeat(400)} } }`],
    ["a field with others below it", `{ books { ${"author { books { title } } ".repeat(250)} } }`],
    [
      "a field at each of many levels",
      `{ books { ${`author { ${"books { author { name id } } ".repeat(4)} } `.repeat(100)} } }`,
    ],
    ["a field in inline fragments", `{ books { ${"... { title } ".repeat(400)} } }`],
    [
      "a field in fragments",
      `{ books { ${many(400, (i) => `...F${i}`)} } } ${many(400, (i) => `fragment F${i} on Book { title }`)}`,
    ],
    ["a spread of missing fragments", `{ books { ${many(230, (i) => `...F${i}`)} } }`],
    ["a field in an unused fragment", `{ books { title } } fragment F on Book { ${"title ".repeat(3_000)} }`],
    [
      "fields repeated a little in many operations",
      many(40, (i) => `query Q${i} { books { ${"title ".repeat(60)} } }`),
    ],
  ])("%s, repeated too often, is rejected", (_, text) => {
    expect(find(text)).toBe("SELECTION_LIMIT_EXCEEDED");
  });

  test.each([
    [
      "few fields, deep in inline fragments",
      `{ books { ${"... { ".repeat(900)} ${"title ".repeat(14)} ${"} ".repeat(900)} } }`,
    ],
    ["two thousand different fields", `{ books { ${many(2_000, (i) => `f${i}`)} } }`],
    ["one field below many aliases", `{ ${many(500, (i) => `a${i}: book { title author { name } }`)} }`],
    [
      "a hundred fragments that share ten fields",
      `{ books { ${many(100, (i) => `...F${i}`)} } } ${many(100, (i) => `fragment F${i} on Book { title isbn author { name id books { title isbn author { id name } } } }`)}`,
    ],
    ["fragments in a cycle", "{ books { ...F } } fragment F on Book { author { books { title ...F } } ...F }"],
  ])("%s pass", (_, text) => {
    expect(find(text)).toBeUndefined();
  });

  test("fields outside a cycle are counted", () => {
    const cycle = "fragment F on Book { author { books { title ...F } } ...F }";
    expect(find(`{ books { ${"title ".repeat(400)} ...F } } ${cycle}`)).toBe("SELECTION_LIMIT_EXCEEDED");
  });

  test("an unused fragment that expands to billions of fields is rejected", () => {
    const levels = many(40, (i) => `fragment F${i} on Book { a: next { ...F${i + 1} } b: next { ...F${i + 1} } }`);
    expect(find(`{ books { title } } ${levels} fragment F40 on Book { title }`)).toBe("SELECTION_LIMIT_EXCEEDED");
  });
});
