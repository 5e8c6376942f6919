import { type FieldNode, Kind, type OperationDefinitionNode, parse, visit } from "graphql";
import { expect, test } from "vitest";
import { createPlannerKeys } from "./planner-keys.ts";

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
