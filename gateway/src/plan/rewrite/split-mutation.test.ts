import { Kind, parse, print, stripIgnoredCharacters } from "graphql";
import { expect, test } from "vitest";
import { splitMutation } from "./split-mutation.ts";

test("each field of a mutation is an operation of its own", () => {
  expect(split("mutation ($x: Int) { a { b } c(x: $x) }")).toEqual([
    "mutation($x:Int){a{b}}",
    "mutation($x:Int){c(x:$x)}",
  ]);
});

test("what has one response name is one field, at its first place", () => {
  expect(split("mutation { x: a { b } c x: a { d } }")).toEqual(["mutation{x:a{b}x:a{d}}", "mutation{c}"]);
});

test("fields keep the fragments around them", () => {
  expect(split("mutation { ... on M { ... @own { a } b } }")).toEqual([
    "mutation{...on M{...@own{a}}}",
    "mutation{...on M{b}}",
  ]);
});

test("a query is not split", () => {
  expect(split("{ a b }")).toEqual(["{a b}"]);
});

function split(text: string): readonly string[] {
  const [operation] = parse(text).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
  return splitMutation(operation).map((one) => stripIgnoredCharacters(print(one)));
}
