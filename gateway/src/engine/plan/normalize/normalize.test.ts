import {
  buildSchema,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  stripIgnoredCharacters,
  visit,
} from "graphql";
import { describe, expect, test } from "vitest";
import { choosePrefix, clientVariableOf, normalize } from "./normalize.ts";
import { createPlannerKeys } from "./planner-keys.ts";
import { listConditionVariables, resolveConditionsAndFragments } from "./resolve-conditions.ts";

describe("a normalized operation", () => {
  test("aliases have the prefix for the planner and remain for the client", () => {
    expect(planned("{ upc: name a { b: c } }")).toBe("{a_upc:name a{a_b:c}}");
    expect(client("{ upc: name }")).toBe("{upc:name}");
  });

  test("__typename is selected once without an alias, and not at the root", () => {
    expect(planned("{ kind: __typename a { x: __typename b y: __typename } }")).toBe("{a{b __typename}}");
  });

  test("introspection fields are not planned, at any depth", () => {
    expect(planned("{ __schema { types { name } } ... on Query { __typename } self { a __type { name } } }")).toBe(
      "{self{a}}",
    );
    expect(planned("{ __typename ...F } fragment F on Query { __schema { types { name } } }")).toBeUndefined();
    expect(client("{ __schema { types { name } } }")).toBe("{__schema{types{name}}}");
  });

  test("a selection set without a field to plan selects __typename", () => {
    expect(planned("{ a { b @skip(if: true) } }")).toBe("{a{__typename}}");
    expect(planned("{ self { __schema { types { name } } } }")).toBe("{self{__typename}}");
  });

  test("inline fragments keep their type conditions and custom directives", () => {
    expect(planned("{ ... on Query { a } ... @custom { b } ... { c } ...F @custom } fragment F on Query { d }")).toBe(
      "{...on Query{a}...@custom{b}c ...on Query@custom{d}}",
    );
  });

  test("fields keep custom directives", () => {
    expect(planned("{ a @custom(of: 1) @skip(if: false) }")).toBe("{a@custom(of:1)}");
  });

  test("operation names, descriptions and unused variables are removed for the planner", () => {
    const text = '"what" query Named("why" $a: Int, $b: Boolean!) @custom(of: $c) { f(a: $a) @include(if: $b) }';
    expect(planned(text, { b: true })).toBe("query($a:Int)@custom(of:$c){f(a:$a)}");
  });

  test("variables with names that the planner uses are renamed, and the client's names are restored", () => {
    const text =
      "query($representations: Int, $a_b: [Int], $plain: Int) { f(x: $representations, y: [$a_b], z: {p: $plain}) }";
    expect(planned(text)).toBe(
      "query($a_representations:Int$a_a_b:[Int]$plain:Int){f(x:$a_representations y:[$a_a_b]z:{p:$plain})}",
    );
    const names = ["a_representations", "a_a_b", "plain"].map((name) => clientVariableOf(name, "a_"));
    expect(names).toEqual(["representations", "a_b", "plain"]);
  });

  test("no field name begins with the alias prefix", () => {
    expect(choosePrefix("a", ["name", "alias"])).toBe("a_");
    expect(choosePrefix("a", ["a_name", "a1_", "a3_x"])).toBe("a2_");
  });

  // Read only if a variable is null.
  const apiSchema = buildSchema("type Query { a: Int }");
  const normalized = (text: string, coerced: Readonly<Record<string, unknown>> = {}) => {
    const document = parse(text);
    return normalize(document, operationOf(text), coerced, { apiSchema, aliasPrefix: "a_" });
  };
  const planned = (text: string, coerced?: Readonly<Record<string, unknown>>) => {
    const operation = normalized(text, coerced).planned;
    return operation && stripIgnoredCharacters(print(operation));
  };
  const client = (text: string) => stripIgnoredCharacters(print(normalized(text).client));

  function operationOf(text: string): OperationDefinitionNode {
    const operation = parse(text).definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
    if (!operation) throw new Error("No operation");
    return operation;
  }
});

describe("planner keys", () => {
  test("a planner key is the field's name or its alias with the prefix; all aliases of __typename have one key", () => {
    expect(keysOf("{ upc: name name kind: __typename }")).toEqual(["a_upc", "name", "__typename"]);
    expect(keysOf("{ name: name }")).toEqual(["name"]);
  });

  test("different arguments under one response name at one position get different keys", () => {
    expect(keysOf("{ ... on A { f(n: 1) } ... on B { f(n: 2) } ... on C { f } }")).toEqual(["f", "a_1_f", "a_2_f"]);
  });

  test("different fields under one alias at one position get different keys", () => {
    expect(keysOf("{ ... on A { x: f } ... on B { x: g } }")).toEqual(["a_x", "a_1_a_x"]);
  });

  test("equal fields have one key, whatever the order of their arguments", () => {
    expect(keysOf("{ ... on A { f(n: 1, o: { p: 1, q: $v }) } ... on B { f(o: { q: $v, p: 1 }, n: 1) } }")).toEqual([
      "f",
      "f",
    ]);
  });

  test("fields at different positions and below different fields may have the same key", () => {
    expect(keysOf("{ a { f(n: 1) } b { f(n: 2) } }")).toEqual(["a", "f", "b", "f"]);
    expect(keysOf("{ ... on A { x: a { f(n: 1) } } ... on B { x: b { f(n: 2) } } }")).toEqual([
      "a_x",
      "f",
      "a_1_a_x",
      "f",
    ]);
  });

  test("selections below equal fields are at one position", () => {
    expect(keysOf("{ ... on A { a { ... on C { f(n: 1) } } } ... on B { a { ... on D { f(n: 2) } } } }")).toEqual([
      "a",
      "f",
      "a",
      "a_1_f",
    ]);
  });

  /** The planner keys of all fields, in the order of the text. */
  function keysOf(text: string): readonly string[] {
    const [operation] = parse(text).definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
    const keyOf = createPlannerKeys(operation satisfies OperationDefinitionNode, "a_");
    const fields: FieldNode[] = [];
    visit(operation, { Field: (field) => void fields.push(field) });
    return fields.map(keyOf);
  }
});

describe("conditions", () => {
  test("skipped and not included fields are removed", () => {
    const text = "{ a @skip(if: true) b @include(if: true) c @include(if: false) d @skip(if: false) }";
    expect(resolved(text)).toBe("{b d}");
  });

  test("with both conditions, both must be fulfilled", () => {
    const text =
      "{ a @skip(if: false) @include(if: false) b @skip(if: true) @include(if: true) c @skip(if: false) @include(if: true) }";
    expect(resolved(text)).toBe("{c}");
  });

  test("a condition on a fragment applies to all its selections", () => {
    const text = "{ ... @skip(if: $x) { a } ... on Q @include(if: $x) { b } ...F @skip(if: $x) } fragment F on Q { c }";
    expect(resolved(text, { x: true })).toBe("{...on Q{b}}");
    expect(resolved(text, { x: false })).toBe("{a ...on Q{c}}");
  });

  test("nested fragments are resolved wherever they are spread", () => {
    const text = "{ ...A a { ...B } } fragment A on Q { a { ...B } } fragment B on T { b: c @include(if: $x) d }";
    expect(resolved(text, { x: false })).toBe("{...on Q{a{...on T{d}}}a{...on T{d}}}");
  });

  test("a field may remain with an empty selection set, a fragment does not", () => {
    expect(selectionsOf("{ a { b @skip(if: true) } ... on Q { c @skip(if: true) } }")).toEqual(["a has 0"]);
  });

  test("a null condition is rejected", () => {
    expect(() => resolved("{ a @skip(if: $x) }", { x: null })).toThrow("The condition of @skip must not be null.");
  });

  test("condition variables are listed once each, also from fragments", () => {
    const text =
      "{ a(of: $no) @skip(if: $x) ...F b @include(if: true) } fragment F on Q { c @include(if: $y) d @skip(if: $x) ...F }";
    const document = parse(text);
    expect(listConditionVariables(document, operationIn(document))).toEqual(["x", "y"]);
  });

  function resolved(text: string, coerced: Readonly<Record<string, unknown>> = {}): string {
    const document = parse(text);
    return stripIgnoredCharacters(print(resolveConditionsAndFragments(document, operationIn(document), coerced)));
  }

  function selectionsOf(text: string): readonly string[] {
    const document = parse(text);
    const { selections } = resolveConditionsAndFragments(document, operationIn(document), {}).selectionSet;
    return selections.map((one) =>
      one.kind === Kind.FIELD ? `${one.name.value} has ${one.selectionSet?.selections.length}` : one.kind,
    );
  }

  function operationIn(document: ReturnType<typeof parse>) {
    const [operation] = document.definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
    return operation;
  }
});
