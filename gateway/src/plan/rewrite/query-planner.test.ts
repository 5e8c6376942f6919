import { composeServices } from "@apollo/composition";
import type { PlanNode } from "@apollo/query-planner";
import { parse } from "graphql";
import { expect, test } from "vitest";
import { createQueryPlanner } from "./query-planner.ts";

test("a chain of @requires is fetched from its end, wherever the operation begins", () => {
  const planner = createQueryPlanner(supergraph(chain));
  const lastFetches = [
    "prices labelled.@ {price}",
    "labels labelled.@ price id → {isExpensive}",
    "wallets labelled.@ isExpensive id → {canAfford}",
    "labels labelled.@ canAfford id → {advice}",
  ];
  expect(stepsOf(planner.plan("{labelled{advice}}").node)).toEqual([
    "labels {labelled{__typename id}}",
    "prices labelled.@ id → {price}",
    ...lastFetches.slice(1),
  ]);
});

test("a field that is required with arguments is fetched beside the client's field", () => {
  const planner = createQueryPlanner(supergraph(taxes));
  expect(stepsOf(planner.plan("{products{price(currency:USD)tax}}").node)).toEqual([
    "products {products{__typename upc price(currency:USD)s_price_0:price(currency:EUR)}}",
    "taxes products.@ upc s_price_0 → {tax}",
  ]);
});

test("the root fields of a mutation are planned one by one", () => {
  const planner = createQueryPlanner(supergraph({ one: "type Query { a: Int } type Mutation { b: Int c: Int }" }));
  expect(stepsOf(planner.plan("mutation{b x:c}").node)).toEqual(["one mutation{b}", "one mutation{x:c}"]);
});

test("the API schema has no synthetic fields", () => {
  const { apiSdl } = createQueryPlanner(supergraph(taxes));
  expect(apiSdl).toContain("price(currency: Currency): Int");
  expect(apiSdl).not.toContain("s_price_0");
});

test("only one anonymous operation is planned", () => {
  const planner = createQueryPlanner(supergraph({ one: "type Query { a: Int }" }));
  expect(() => planner.plan("query Named { a }")).toThrow("Only one anonymous operation can be planned");
  expect(() => planner.plan("{ a } fragment F on Query { a }")).toThrow("Only one anonymous operation");
});

const chain = {
  prices: 'type Query { priced: [Product] } type Product @key(fields: "id") { id: ID! price: Int }',
  labels: `
    type Query { labelled: [Product] }
    type Product @key(fields: "id") {
      id: ID! price: Int @external canAfford: Boolean @external
      isExpensive: Boolean @requires(fields: "price") advice: String @requires(fields: "canAfford")
    }`,
  wallets: `
    type Product @key(fields: "id") {
      id: ID! isExpensive: Boolean @external canAfford: Boolean @requires(fields: "isExpensive")
    }`,
};

const taxes = {
  products: `
    type Query { products: [Product] } enum Currency { EUR USD }
    type Product @key(fields: "upc") { upc: ID! price(currency: Currency): Int }`,
  taxes: `
    enum Currency { EUR USD }
    type Product @key(fields: "upc") {
      upc: ID! price(currency: Currency): Int @external tax: Int @requires(fields: "price(currency: EUR)")
    }`,
};

function supergraph(subgraphs: Readonly<Record<string, string>>): string {
  const link =
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@external", "@requires"])';
  const services = Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: "", typeDefs: parse(link + sdl) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? []);
  return supergraphSdl;
}

/** The fetches in order: the service; for an entity fetch, its path, what it requires and what it selects. */
function stepsOf(node: unknown, path = ""): readonly string[] {
  const plan = node as PlanNode;
  if (plan.kind === "Sequence" || plan.kind === "Parallel") return plan.nodes.flatMap((child) => stepsOf(child, path));
  if (plan.kind === "Flatten") return stepsOf(plan.node, plan.path.join("."));
  if (plan.kind !== "Fetch") throw new Error(`Unexpected ${plan.kind}`);
  if (!plan.requires) return [`${plan.serviceName} ${plan.operation}`];
  const required = plan.requires.flatMap((one) => ("selections" in one ? (one.selections ?? []) : []));
  const names = required.flatMap((one) => (one.kind === "Field" && one.name !== "__typename" ? one.name : []));
  const selected = /\.\.\.on \w+(\{.*\})\}\}$/.exec(plan.operation)?.[1];
  return [`${plan.serviceName} ${path} ${names.join(" ")} → ${selected}`];
}
