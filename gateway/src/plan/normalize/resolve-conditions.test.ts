import { Kind, parse, print, stripIgnoredCharacters } from "graphql";
import { expect, test } from "vitest";
import { listConditionVariables, resolveConditions } from "./resolve-conditions.ts";

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
  return stripIgnoredCharacters(print(resolveConditions(document, operationIn(document), coerced)));
}

function selectionsOf(text: string): readonly string[] {
  const document = parse(text);
  const { selections } = resolveConditions(document, operationIn(document), {}).selectionSet;
  return selections.map((one) =>
    one.kind === Kind.FIELD ? `${one.name.value} has ${one.selectionSet?.selections.length}` : one.kind,
  );
}

function operationIn(document: ReturnType<typeof parse>) {
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
  return operation;
}
