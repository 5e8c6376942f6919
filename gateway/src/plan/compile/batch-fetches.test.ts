import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { expect, test } from "vitest";
import { type Outline, outlinePlan } from "./batch-fetches.ts";

test("entity fetches that stand side by side go to their subgraph together", () => {
  const plan = sequence(
    root("books"),
    parallel(entities("people", "books.@.author"), entities("people", "books.@.reader")),
  );
  expect(describeOutline(outlinePlan(plan))).toEqual(["books:", "people:books.author people:books.reader"]);
});

test("branches go on side by side where that makes requests fewer", () => {
  const plan = parallel(
    sequence(root("books"), entities("reviews", "books.@")),
    sequence(root("people"), entities("reviews", "people.@")),
  );
  expect(describeOutline(outlinePlan(plan))).toEqual([["books:", "people:"], "reviews:books reviews:people"]);
});

test("branches that have no subgraph in common do not wait for each other", () => {
  const plan = parallel(
    sequence(root("books"), entities("reviews", "books.@")),
    sequence(root("people"), root("shelves")),
  );
  expect(describeOutline(outlinePlan(plan))).toEqual([
    ["books:", "reviews:books"],
    ["people:", "shelves:"],
  ]);
});

test("fetches of root fields go alone", () => {
  const plan = parallel(root("books"), root("books"));
  expect(describeOutline(outlinePlan(plan))).toEqual(["books:", "books:"]);
});

/** A batch is a text; what is done one after the other, or at the same time, a list. */
function describeOutline(outline: Outline): unknown {
  if (outline.kind !== "batch") return outline.parts.map(describeOutline);
  return outline.fetches.map(({ node, path }) => `${node.serviceName}:${path.join(".")}`).join(" ");
}

function sequence(...nodes: PlanNode[]): PlanNode {
  return { kind: "Sequence", nodes };
}

function parallel(...nodes: PlanNode[]): PlanNode {
  return { kind: "Parallel", nodes };
}

function root(serviceName: string): FetchNode {
  return { kind: "Fetch", serviceName, operation: "{ a }", operationName: undefined, operationKind: "query" as never };
}

function entities(serviceName: string, path: string): PlanNode {
  const requires = [{ kind: "Field", name: "id" } as const];
  return { kind: "Flatten", path: path.split("."), node: { ...root(serviceName), requires } };
}
