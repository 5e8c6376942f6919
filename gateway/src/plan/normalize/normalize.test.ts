import { Kind, type OperationDefinitionNode, parse, print, stripIgnoredCharacters } from "graphql";
import { expect, test } from "vitest";
import { chooseAliasPrefix, clientVariableOf, normalize } from "./normalize.ts";

test("aliases are prefixed for the planner and stay for the client", () => {
  expect(planned("{ upc: name a { b: c } }")).toBe("{a_upc:name a{a_b:c}}");
  expect(client("{ upc: name }")).toBe("{upc:name}");
});

test("a field under its own name as alias has no alias for the planner", () => {
  expect(planned("{ name: name name }")).toBe("{name name}");
});

test("__typename is asked once and without alias, and not at the root", () => {
  expect(planned("{ kind: __typename a { x: __typename b y: __typename } }")).toBe("{a{b __typename}}");
});

test("what the gateway answers itself is not planned, however deep it stands", () => {
  expect(planned("{ __schema { types { name } } ... on Query { __typename } self { a __type { name } } }")).toBe(
    "{self{a}}",
  );
  expect(planned("{ __typename ...F } fragment F on Query { __schema { types { name } } }")).toBeUndefined();
  expect(client("{ __schema { types { name } } }")).toBe("{__schema{types{name}}}");
});

test("an object of which nothing is left to plan is asked for its type", () => {
  expect(planned("{ a { b @skip(if: true) } }")).toBe("{a{__typename}}");
  expect(planned("{ self { __schema { types { name } } } }")).toBe("{self{__typename}}");
});

test("fragments keep their conditions and their own directives", () => {
  expect(planned("{ ... on Query { a } ... @own { b } ... { c } ...F @own } fragment F on Query { d }")).toBe(
    "{...on Query{a}...@own{b}c ...on Query@own{d}}",
  );
});

test("directives of their own kind stay on fields", () => {
  expect(planned("{ a @own(of: 1) @skip(if: false) }")).toBe("{a@own(of:1)}");
});

test("names, descriptions and variables that nothing uses are not told to the planner", () => {
  const text = '"what" query Named("why" $a: Int, $b: Boolean!) @own(of: $c) { f(a: $a) @include(if: $b) }';
  expect(planned(text, { b: true })).toBe("query($a:Int)@own(of:$c){f(a:$a)}");
});

test("variables with names that the planner gives are renamed, and found again", () => {
  const text =
    "query($representations: Int, $a_b: [Int], $plain: Int) { f(x: $representations, y: [$a_b], z: {p: $plain}) }";
  expect(planned(text)).toBe(
    "query($a_representations:Int$a_a_b:[Int]$plain:Int){f(x:$a_representations y:[$a_a_b]z:{p:$plain})}",
  );
  const names = ["a_representations", "a_a_b", "plain"].map((name) => clientVariableOf(name, "a_"));
  expect(names).toEqual(["representations", "a_b", "plain"]);
});

test("a response name that stands for two questions at one place has a name for each", () => {
  expect(planned("{ m { ... on A { f(n: 1) } ... on B { f(n: 2) x: f } } }")).toBe(
    "{m{...on A{f(n:1)}...on B{a_1_f:f(n:2)a_x:f}}}",
  );
});

test("no field name begins with the prefix", () => {
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
