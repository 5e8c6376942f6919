import type { QueryPlan } from "@apollo/query-planner";
import { Kind, type OperationDefinitionNode, parse, print, stripIgnoredCharacters } from "graphql";
import { describe, expect, test } from "vitest";
import { composeSupergraph, federationLink } from "../../../../test/helpers/subgraphs.ts";
import { createQueryPlanner } from "./query-planner.ts";
import { planResolvable } from "./plan-resolvable.ts";

describe("without hidden fields", () => {
  test("an operation with an unresolvable field has a plan without a node", () => {
    const plan = fail("Was not able to find any options for a: so it is.");
    expect(planResolvable(operation, plan, false)).toEqual({ kind: "QueryPlan" });
  });

  test.each([
    "Cannot add selection of field X.a to selection set of X that is potentially an interface object type at runtime",
    "Subgraph one has no entities defined",
  ])("so has an operation with an unresolvable field of an interface object: %s", (message) => {
    expect(planResolvable(operation, fail(message), false)).toEqual({ kind: "QueryPlan" });
  });

  test("other errors are thrown", () => {
    expect(() => planResolvable(operation, fail("too complex"), false)).toThrow("too complex");
  });

  test("a plan is returned as it is", () => {
    const plan: QueryPlan = { kind: "QueryPlan", node: { kind: "Sequence", nodes: [] } };
    expect(planResolvable(operation, () => plan, false)).toBe(plan);
  });

  test.each(["{ one { id } }", "{ one { id } two }", "mutation { do one { id } }"])(
    "%s has no plan: each subgraph's keys are external to it",
    (text) => {
      expect(createQueryPlanner(supergraphSdl).plan(text)).toEqual({ kind: "QueryPlan" });
    },
  );

  test("an operation without the unresolvable field has a plan", () => {
    expect(createQueryPlanner(supergraphSdl).plan("mutation { do one { __typename } }").node).toBeDefined();
  });
});

describe("with hidden fields", () => {
  test("a field behind a chain that leads to its interface object is omitted, with the real planner", () => {
    const subgraphs = chain.map((typeDefs, at) => ({ name: `s${at}`, url: "", typeDefs: federationLink + typeDefs }));
    const { node } = createQueryPlanner(composeSupergraph(subgraphs)).plan("{ top { score similar { id } } }");
    expect(node).toMatchObject({ kind: "Fetch", operation: "{top{score}}" });
  });

  test("unresolvable fields are omitted, and the others are planned", () => {
    expect(planned("{ a { bad c { bad d } } ... on Q { bad e } }")).toBe("{a{c{d}}...on Q{e}}");
  });

  test("of an object without a resolvable field, the __typename is fetched", () => {
    expect(planned("{ a { bad { x } } b }")).toBe("{a{__typename}b}");
  });

  test("without a resolvable field, the plan has no node", () => {
    expect(planned("{ bad ... on Q { bad } }")).toBeUndefined();
  });

  test("a resolvable operation is planned once", () => {
    const plannings: string[] = [];
    const plan = (operation: OperationDefinitionNode): QueryPlan => {
      plannings.push(textOf(operation));
      return { kind: "QueryPlan" };
    };
    planResolvable(operationOf("{ a b }"), plan, true);
    expect(plannings).toEqual(["{a b}"]);
  });

  test("other errors are thrown, and so is the planner's error for an operation with too many parts", () => {
    const fail = () => {
      throw new Error("too complex");
    };
    expect(() => planResolvable(operationOf("{ bad }"), fail, true)).toThrow("too complex");
    expect(() => planned(`{ ${"bad a ".repeat(150)} }`)).toThrow("Was not able to find any options for bad");
  });
});

const fail = (message: string) => () => {
  throw new Error(message);
};

const operation = operationOf("{ a }");

/** The operation that is planned in the end. For the planner, fields named `bad` are unresolvable. */
function planned(text: string): string | undefined {
  let last: string | undefined;
  const plan = (operation: OperationDefinitionNode): QueryPlan => {
    if (textOf(operation).includes("bad")) throw new Error("Was not able to find any options for bad: so it is.");
    last = textOf(operation);
    return { kind: "QueryPlan", node: { kind: "Sequence", nodes: [] } };
  };
  const { node } = planResolvable(operationOf(text), plan, true);
  return node && last;
}

const textOf = (operation: OperationDefinitionNode) => stripIgnoredCharacters(print(operation));

function operationOf(text: string): OperationDefinitionNode {
  const [operation] = parse(text).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("No operation");
  return operation;
}

/** `similar` requires `rank`, which requires `score`; `similar` leads to the interface object that all three are fields of. */
const chain = [
  `type Query { media: [Media!] } interface Media @key(fields: "id") { id: ID! title: String }
   type Film implements Media @key(fields: "id") { id: ID! title: String }
   type Show implements Media @key(fields: "id") { id: ID! title: String }`,
  `type Query { top: [Media] } type Media @key(fields: "id") @interfaceObject {
     id: ID! score: Int similar: Media @requires(fields: "rank") rank: Int @external }`,
  `type Media @key(fields: "id") @interfaceObject { id: ID! rank: Int @requires(fields: "score") score: Int @external }`,
];

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
