import { Kind, parse, print, stripIgnoredCharacters } from "graphql";
import { expect, test } from "vitest";
import { splitMutation } from "./split-mutation.ts";

test("each root field of a mutation becomes an operation", () => {
  expect(split("mutation ($x: Int) { a { b } c(x: $x) }")).toEqual([
    "mutation($x:Int){a{b}}",
    "mutation($x:Int){c(x:$x)}",
  ]);
});

test("selections with one response name are one field, in the order of the first", () => {
  expect(split("mutation { x: a { b } c x: a { d } }")).toEqual(["mutation{x:a{b}x:a{d}}", "mutation{c}"]);
});

test("fields keep their surrounding fragments", () => {
  expect(split("mutation { ... on M { ... @custom { a } b } }")).toEqual([
    "mutation{...on M{...@custom{a}}}",
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
