import { Kind, type OperationDefinitionNode, parse, print, stripIgnoredCharacters } from "graphql";
import { expect, test } from "vitest";
import { chooseAliasPrefix, clientVariableOf, normalize } from "./normalize.ts";

test("aliases have the prefix for the planner and remain for the client", () => {
  expect(planned("{ upc: name a { b: c } }")).toBe("{a_upc:name a{a_b:c}}");
  expect(client("{ upc: name }")).toBe("{upc:name}");
});

test("an alias that equals the field's name is removed for the planner", () => {
  expect(planned("{ name: name name }")).toBe("{name name}");
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

test("different arguments under one response name at one position get different names", () => {
  expect(planned("{ m { ... on A { f(n: 1) } ... on B { f(n: 2) x: f } } }")).toBe(
    "{m{...on A{f(n:1)}...on B{a_1_f:f(n:2)a_x:f}}}",
  );
});

test("no field name begins with the alias prefix", () => {
  expect(chooseAliasPrefix(["name", "alias"])).toBe("a_");
  expect(chooseAliasPrefix(["a_name", "a1_", "a3_x"])).toBe("a2_");
});

const normalized = (text: string, coerced: Readonly<Record<string, unknown>> = {}) => {
  const document = parse(text);
  return normalize(document, operationOf(text), coerced, "a_");
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
