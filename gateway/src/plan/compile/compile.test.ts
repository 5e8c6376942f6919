import { buildSchema, Kind, parse, print } from "graphql";
import { composeServices } from "@apollo/composition";
import { expect, test } from "vitest";
import { buildSupergraphSchema } from "../../supergraph-stages.ts";
import { createCompiler } from "./compile.ts";
import type { CompiledPlan, CompiledRequest, PlanStep } from "./compiled-plan.ts";
import { createStoppedKeyChecks } from "./key-checks.ts";
import { normalize } from "../normalize/normalize.ts";
import { createQueryPlanner } from "../rewrite/query-planner.ts";
import { createSupergraphTypes } from "./supergraph-types.ts";

const books = `
  type Query { books: [Book] best: Book @shareable }
  type Book @key(fields: "isbn") { isbn: ID! title: String size: Size @shareable author: Author }
  type Size @shareable { pages: Int }
  type Author @key(fields: "id") { id: ID! }
`;
const stocks = `
  type Query { best: Book @shareable }
  type Book @key(fields: "isbn") { isbn: ID! inStock: Int size: Size @shareable }
  type Size @shareable { grams: Int }
  type Author @key(fields: "id") { id: ID! name: String }
`;

test("an entity fetch also selects the key, so that a wrong entity is detected", () => {
  const { requests } = compile("{ books { title inStock } }");
  expect(requests.map(({ currentText }) => textOf(currentText().head))).toEqual([
    "{books{__typename isbn title}}",
    "query($representations:[_Any!]!){_entities(representations:$representations){...on Book{inStock a_0_0_isbn:isbn}}}",
  ]);
});

test("equal fetches at several positions are united", () => {
  const { requests } = compile("{ books { author { name } } second: books { author { name } } }");
  const [, names] = requests;
  expect(names?.fetches.map(({ paths }) => paths)).toEqual([
    [
      ["books", "author"],
      ["a_second", "author"],
    ],
  ]);
});

test("data is joined unless two fetches provide fields of one object without a key", () => {
  expect(compile("{ books { inStock size { pages } } }").isMerged).toBe(false);
  expect(compile("{ books { size { pages grams } } }").isMerged).toBe(true);
});

test("an operation that needs no subgraph has no steps", () => {
  expect(compile("{ __typename }").steps).toBeUndefined();
  expect(compile("{ __schema { queryType { name } } }").introspection).toBeDefined();
});

function compile(source: string): CompiledPlan & { readonly requests: readonly CompiledRequest[] } {
  const supergraphSdl = compose();
  const planner = createQueryPlanner(supergraphSdl);
  const types = createSupergraphTypes(buildSupergraphSchema(parse(supergraphSdl)));
  const compilePlan = createCompiler({
    types,
    apiSchema: buildSchema(planner.apiSdl),
    aliasPrefix: planner.aliasPrefix,
    checksKeys: () => true,
    stoppedKeyChecks: createStoppedKeyChecks(),
  });
  const document = parse(source);
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  if (!operation) throw new Error("The document has no operation");
  const { client, planned } = normalize(document, operation, {}, planner.aliasPrefix);
  const plan = compilePlan(client, planned ? planner.plan(print(planned)) : { kind: "QueryPlan" }, () => {});
  return { ...plan, requests: plan.steps ? listRequests(plan.steps) : [] };
}

function listRequests(step: PlanStep): readonly CompiledRequest[] {
  return step.kind === "request" ? [step.request] : step.steps.flatMap(listRequests);
}

function textOf(head: string): string {
  return (JSON.parse(`${head}}`) as { query: string }).query;
}

function compose(): string {
  const header = '@link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key", "@shareable"])';
  const services = Object.entries({ books, stocks }).map(([name, text]) => ({
    name,
    url: `http://${name}.example`,
    typeDefs: parse(`extend schema ${header} ${text}`),
  }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new Error(errors?.join("\n"));
  return supergraphSdl;
}
