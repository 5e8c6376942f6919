import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, parse } from "graphql";
import { expect, test } from "vitest";
import { createQueryPlanner } from "./create-planner.ts";
import { planResolvable } from "./plan-resolvable.ts";

const fail = (message: string) => () => {
  throw new Error(message);
};

test("what the planner finds no way to has a plan without a node", () => {
  const plan = fail("Was not able to find any options for a: so it is.");
  expect(planResolvable(operation, plan)).toEqual({ kind: "QueryPlan" });
});

test.each([
  "Cannot add selection of field X.a to selection set of X that is potentially an interface object type at runtime",
  "Subgraph one has no entities defined",
])("what it finds no way to among interface objects has none either: %s", (message) => {
  expect(planResolvable(operation, fail(message))).toEqual({ kind: "QueryPlan" });
});

test("what it fails for otherwise is thrown", () => {
  expect(() => planResolvable(operation, fail("too complex"))).toThrow("too complex");
});

test("a plan is the planner's", () => {
  const plan: QueryPlan = { kind: "QueryPlan", node: { kind: "Sequence", nodes: [] } };
  expect(planResolvable(operation, () => plan)).toBe(plan);
});

test.each(["{ one { id } }", "{ one { id } two }", "mutation { do one { id } }"])(
  "%s has no plan: each subgraph's keys are external to it",
  (text) => {
    expect(createQueryPlanner(supergraphSdl).plan(text)).toEqual({ kind: "QueryPlan" });
  },
);

test("beside it everything has a plan", () => {
  expect(createQueryPlanner(supergraphSdl).plan("mutation { do one { __typename } }").node).toBeDefined();
});

const [operation] = parse("{ a }").definitions.filter((node): node is OperationDefinitionNode => {
  return node.kind === Kind.OPERATION_DEFINITION;
}) as [OperationDefinitionNode];

const supergraphSdl = `
  schema
    @link(url: "https://specs.apollo.dev/link/v1.0")
    @link(url: "https://specs.apollo.dev/join/v0.3", for: EXECUTION) { query: Query mutation: Mutation }
  directive @join__enumValue(graph: join__Graph!) repeatable on ENUM_VALUE
  directive @join__field(graph: join__Graph, requires: join__FieldSet, provides: join__FieldSet, type: String,
    external: Boolean, override: String, usedOverridden: Boolean) repeatable on FIELD_DEFINITION | INPUT_FIELD_DEFINITION
  directive @join__graph(name: String!, url: String!) on ENUM_VALUE
  directive @join__implements(graph: join__Graph!, interface: String!) repeatable on OBJECT | INTERFACE
  directive @join__type(graph: join__Graph!, key: join__FieldSet, extension: Boolean! = false, resolvable: Boolean! = true,
    isInterfaceObject: Boolean! = false) repeatable on OBJECT | INTERFACE | UNION | ENUM | INPUT_OBJECT | SCALAR
  directive @join__unionMember(graph: join__Graph!, member: String!) repeatable on UNION
  directive @link(url: String, as: String, for: link__Purpose, import: [link__Import]) repeatable on SCHEMA
  scalar join__FieldSet
  scalar link__Import
  enum link__Purpose { SECURITY EXECUTION }
  enum join__Graph { A @join__graph(name: "a", url: "http://a") B @join__graph(name: "b", url: "http://b") }
  type Query @join__type(graph: A) @join__type(graph: B) { one: Thing @join__field(graph: A) two: Int @join__field(graph: B) }
  type Mutation @join__type(graph: A) @join__type(graph: B) { one: Thing @join__field(graph: A) do: Int @join__field(graph: B) }
  type Thing @join__type(graph: A, key: "id") @join__type(graph: B, key: "id") {
    id: ID! @join__field(graph: A, external: true) @join__field(graph: B, external: true)
  }
`;
