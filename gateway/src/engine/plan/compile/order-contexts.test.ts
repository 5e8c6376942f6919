import type { PlanNode } from "@apollo/query-planner";
import { expect, test } from "vitest";
import { composeSupergraph } from "../../../../test/helpers/subgraphs.ts";
import { Rejection } from "../../../errors/rejections.ts";
import { createQueryPlanner } from "../rewrite/query-planner.ts";
import { orderContexts } from "./order-contexts.ts";

const link = `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.8", import: ["@key", "@context", "@fromContext"])\n`;

test("the planner fetches a contextual value and the field that needs it in parallel", () => {
  const plan = createPlan({
    shops: `type Query { shop: Shop } type Shop @key(fields: "id") { id: ID! item: Item }
      type Item @key(fields: "id") { id: ID! }`,
    mottos: `type Shop @key(fields: "id") @context(name: "shop") { id: ID! motto: String }
      type Item @key(fields: "id") { id: ID! sign(motto: String @fromContext(field: "$shop { motto }")): String }`,
  })("{ shop { item { sign } } }");
  expect(kindsOf(plan)).toEqual(["Fetch", "Parallel"]);
  expect(kindsOf(orderContexts(plan))).toEqual(["Fetch", "Sequence"]);
});

test("an operation of which the planner does not select a contextual value is not resolvable", () => {
  const plan = createPlan({
    shops: `type Query { shop: Shop }
      type Shop @context(name: "shop") { p: String q: String item: Item }
      type Item @key(fields: "id") {
        id: ID!
        a(p: String @fromContext(field: "$shop ... on Shop { p }")): Int
        b(q: String @fromContext(field: "$shop ... on Shop { q }")): Int
      }`,
  });
  expect(() => orderContexts(plan("{ shop { item { a } } }"))).not.toThrow();
  expect(() => orderContexts(plan("{ shop { item { a b } } }"))).toThrow(Rejection);
});

function createPlan(subgraphs: Readonly<Record<string, string>>) {
  const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: "", typeDefs: link + sdl }));
  const { plan } = createQueryPlanner(composeSupergraph(services));
  return (operation: string) => plan(operation).node as PlanNode;
}

function kindsOf(node: PlanNode): readonly string[] {
  return node.kind === "Sequence" ? node.nodes.map(({ kind }) => kind) : [];
}
