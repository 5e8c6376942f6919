import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, parse, print, stripIgnoredCharacters } from "graphql";
import { expect, test } from "vitest";
import { planRest } from "./plan-rest.ts";

test("what cannot be reached is left out, and its siblings are planned", () => {
  expect(planned("{ a { bad c { bad d } } ... on Q { bad e } }")).toBe("{a{c{d}}...on Q{e}}");
});

test("an object of which nothing can be reached is still asked whether it is there", () => {
  expect(planned("{ a { bad { x } } b }")).toBe("{a{__typename}b}");
});

test("when nothing is left the plan is empty", () => {
  expect(planned("{ bad ... on Q { bad } }")).toBeUndefined();
});

test("what can be planned is planned once", () => {
  const plannings: string[] = [];
  planRest(operationOf("{ a b }"), (operation) => {
    plannings.push(textOf(operation));
    return { kind: "QueryPlan" };
  });
  expect(plannings).toEqual(["{a b}"]);
});

test("other errors, and operations of too many parts, are the planner's", () => {
  const fail = () => {
    throw new Error("too complex");
  };
  expect(() => planRest(operationOf("{ bad }"), fail)).toThrow("too complex");
  expect(() => planned(`{ ${"bad a ".repeat(150)} }`)).toThrow("Was not able to find any options for bad");
});

/** The operation that is planned in the end, by a planner that can reach all but fields named bad. */
function planned(text: string): string | undefined {
  let last: string | undefined;
  const plan = (operation: OperationDefinitionNode): QueryPlan => {
    if (textOf(operation).includes("bad")) throw new Error("Was not able to find any options for bad: so it is.");
    last = textOf(operation);
    return { kind: "QueryPlan", node: { kind: "Sequence", nodes: [] } };
  };
  const { node } = planRest(operationOf(text), plan);
  return node && last;
}

const textOf = (operation: OperationDefinitionNode) => stripIgnoredCharacters(print(operation));

function operationOf(text: string): OperationDefinitionNode {
  const [operation] = parse(text).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
  return operation;
}
