import type { FetchNode, PlanNode } from "@apollo/query-planner";
import { expect, test } from "vitest";
import { type FetchSchedule, scheduleFetches } from "./fetch-schedule.ts";

test("parallel entity fetches of one subgraph are one request", () => {
  const plan = sequence(
    root("books"),
    parallel(entities("people", "books.@.author"), entities("people", "books.@.reader")),
  );
  expect(describeSchedule(scheduleFetches(plan))).toEqual(["books:", "people:books.author people:books.reader"]);
});

test("parallel branches run level by level if that takes fewer requests", () => {
  const plan = parallel(
    sequence(root("books"), entities("reviews", "books.@")),
    sequence(root("people"), entities("reviews", "people.@")),
  );
  expect(describeSchedule(scheduleFetches(plan))).toEqual([["books:", "people:"], "reviews:books reviews:people"]);
});

test("branches without a common subgraph do not wait for each other", () => {
  const plan = parallel(
    sequence(root("books"), entities("reviews", "books.@")),
    sequence(root("people"), root("shelves")),
  );
  expect(describeSchedule(scheduleFetches(plan))).toEqual([
    ["books:", "reviews:books"],
    ["people:", "shelves:"],
  ]);
});

test("each fetch of root fields is its own request", () => {
  const plan = parallel(root("books"), root("books"));
  expect(describeSchedule(scheduleFetches(plan))).toEqual(["books:", "books:"]);
});

/** A batch as text, a sequence or parallel as a list. */
function describeSchedule(schedule: FetchSchedule): unknown {
  if (schedule.kind !== "batch") return schedule.parts.map(describeSchedule);
  return schedule.fetches.map(({ node, path }) => `${node.serviceName}:${path.join(".")}`).join(" ");
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
