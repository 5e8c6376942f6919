import { buildSchema } from "graphql";
import { expect, test } from "vitest";
import { createOperationPlanner } from "../scripts/check/operation-planner.ts";
import { activeOperations, readClients } from "../supergraph/clients/clients.ts";
import { findPlanChanges } from "../supergraph/clients/plan-changes.ts";
import { composeSchemas } from "../supergraph/composition/compose-schemas.ts";
import type { SubgraphSource } from "../supergraph/subgraphs.ts";

type Schemas = Readonly<Record<"products" | "reviews" | "shipping", string>>;

const link =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@external", "@provides", "@requires", "@override"])\n';
const base: Schemas = {
  products: `type Query { product(id: ID!): Product products: [Product] }
type Product @key(fields: "id") { id: ID! title: String price: Int weight: Int colour: String maker: String brand: String
 size: String rating: Float @shareable stock: Int @shareable label: String @shareable }`,
  reviews: `type Query { latest: [Review] }
type Review @key(fields: "id") { id: ID! text: String score: Int author: Author @provides(fields: "name city country") product: Product @provides(fields: "stock") }
type Author @key(fields: "id") { id: ID! name: String @external city: String @external country: String @external }
type Product @key(fields: "id") { id: ID! reviews: [Review] rating: Float @shareable stock: Int @external label: String @shareable }`,
  shipping: `type Product @key(fields: "id") { id: ID! weight: Int @external size: String @external box: String @requires(fields: "weight") crate: String @requires(fields: "size") days: Int cost: Int }
type Author @key(fields: "id") { id: ID! name: String @shareable city: String @shareable country: String @shareable }
type Review @key(fields: "id") { id: ID! }`,
};

/** From products to shipping. */
const moved = ["title: String", "price: Int", "colour: String", "maker: String", "brand: String"].map((field) => {
  const name = field.split(":")[0];
  const edits = [
    ["products", ` ${field}`, ""],
    ["shipping", "days: Int", `days: Int ${field}`],
  ] as const;
  return [`{ products { id size ${name} } }`, `Product.${name}`, edits] as const;
});
/** From shipping to reviews, so that two subgraphs are asked instead of one. */
const split = ["days", "cost"].map((name) => {
  const edits = [
    ["shipping", ` ${name}: Int`, ""],
    ["reviews", "reviews: [Review]", `reviews: [Review] ${name}: Int`],
  ] as const;
  return [`{ products { days cost } }`, `Product.${name}`, edits] as const;
});
const overridden = ["title: String", "maker: String"].map((field) => {
  const name = field.split(":")[0];
  const edits = [["shipping", "days: Int", `days: Int ${field} @override(from: "products")`]] as const;
  return [`{ product(id: 1) { id ${name} } }`, `Product.${name}`, edits] as const;
});
const provided = ["name", "city", "country"].map((name) => {
  const edits = [
    [
      "reviews",
      'fields: "name city country"',
      `fields: "${["name", "city", "country"].filter((one) => one !== name).join(" ")}"`,
    ],
    ["reviews", ` ${name}: String @external`, ""],
  ] as const;
  return [`{ latest { author { ${name} } } }`, "Review.author", edits] as const;
});
const shared = ["rating: Float", "label: String"].flatMap((field) => {
  const name = field.split(":")[0];
  const products = [["products", ` ${field} @shareable`, ""]] as const;
  const reviews = [["reviews", ` ${field} @shareable`, ""]] as const;
  return [
    [`{ product(id: 1) { title ${name} } }`, `Product.${name}`, products] as const,
    [`{ latest { product { reviews { id } ${name} } } }`, `Product.${name}`, reviews] as const,
  ];
});
const required = [
  [
    `{ product(id: 1) { box } }`,
    "Product.weight",
    [
      ["products", " weight: Int", ""],
      ["reviews", "reviews: [Review]", "reviews: [Review] weight: Int"],
    ],
  ],
  [
    `{ product(id: 1) { crate } }`,
    "Product.size",
    [
      ["products", " size: String", ""],
      ["reviews", "reviews: [Review]", "reviews: [Review] size: String"],
    ],
  ],
  [
    `{ latest { product { cost } } }`,
    "Product.cost",
    [["shipping", "cost: Int", 'price: Int @external cost: Int @requires(fields: "price")']],
  ],
  [
    `{ latest { product { days } } }`,
    "Product.days",
    [["shipping", "days: Int", 'title: String @external days: Int @requires(fields: "title")']],
  ],
  [
    `{ latest { product { stock } } }`,
    "Review.product",
    [
      ["reviews", ' @provides(fields: "stock")', ""],
      ["reviews", " stock: Int @external", ""],
    ],
  ],
] as const;

const regressions = [...moved, ...split, ...overridden, ...provided, ...shared, ...required];

test("there are twenty regressions", () => {
  expect(regressions.length).toBeGreaterThanOrEqual(20);
});

test.each(regressions)("%s: more fetches are found, because of %s", (query, cause, edits) => {
  const [change, ...others] = compare(query, edit(edits));
  expect(others).toEqual([]);
  expect(change).toMatchObject({
    code: "PLAN_REGRESSION",
    subject: cause,
    breaks: [{ release: "web@1", operations: ["Q"] }],
  });
  expect(change?.message).toMatch(/ instead of \d/);
});

test("an operation that waits longer, or asks for a list, fails the check; one more fetch at the same time is only reported", () => {
  const [slower] = compare("{ product(id: 1) { title } }", edit(moved[0]?.[2] ?? []));
  expect(slower).toMatchObject({
    level: "breaking",
    message: "Product.title is resolved in another way: Q needs 2 fetches instead of 1, 2 steps instead of 1.",
  });
  const [parallel] = compare("{ product(id: 1) { days cost } }", edit(split[0]?.[2] ?? []));
  expect(parallel).toMatchObject({
    level: "dangerous",
    message: "Product.days is resolved in another way: Q needs 3 fetches instead of 2.",
  });
});

test("a key that a subgraph no longer resolves is reported with the field that replaces it", () => {
  const before = edit([
    ["products", '@key(fields: "id")', '@key(fields: "id") @key(fields: "sku")'],
    ["products", "title: String", "sku: ID! title: String"],
    [
      "shipping",
      'Product @key(fields: "id") { id: ID!',
      'Product @key(fields: "id") @key(fields: "sku") { id: ID! sku: ID!',
    ],
    ["reviews", 'Product @key(fields: "id") { id: ID!', 'Product @key(fields: "sku") { sku: ID!'],
  ]);
  const now = { ...before, shipping: before.shipping.replace('@key(fields: "sku") { id: ID! sku: ID!', "{ id: ID!") };
  const [change] = compare("{ latest { product { days } } }", now, before);
  expect(change).toMatchObject({ level: "breaking", code: "PLAN_REGRESSION" });
  expect(change?.subject).toMatch(/^Product\.(id|sku)$/);
});

test("a moved field does not concern operations without it, and fewer fetches are no regression", () => {
  expect(compare("{ products { id size } }", edit(moved[0]?.[2] ?? []))).toEqual([]);
  expect(
    compare(
      "{ products { title days } }",
      edit([
        ["products", " title: String", " title: String days: Int @shareable"],
        ["shipping", "days: Int", "days: Int @shareable"],
      ]),
    ),
  ).toEqual([]);
  expect(
    compare(
      "query ($a: Boolean!) { products { title @skip(if: $a) } ... @defer { product(id: 1) { id } } }",
      edit([["products", "size", "added: Int size"]]),
    ),
  ).toEqual([]);
});

function edit(edits: readonly (readonly [keyof Schemas, string, string])[]): Schemas {
  const schemas = { ...base };
  for (const [name, from, to] of edits) {
    expect(schemas[name]).toContain(from);
    schemas[name] = schemas[name].replace(from, to);
  }
  return schemas;
}

function compare(query: string, now: Schemas, from = base) {
  const [before, after] = [toState(from), toState(now)];
  const text = JSON.stringify({ q: query.replace(/^(query)?/, "query Q ") });
  const { clients } = readClients({
    list: () => ["clients/web/1.json"],
    read: (path) => (path === "clients/web/1.json" ? text : undefined),
  });
  const operations = activeOperations(clients, "2026-11-28");
  expect(operations).toHaveLength(1);
  expect(buildSchema(after.apiSdl).getQueryType()).toBeDefined();
  return findPlanChanges(before, after, operations, createOperationPlanner);
}

function toState(schemas: Schemas) {
  const sources: SubgraphSource[] = Object.entries(schemas).map(([name, sdl]) => {
    return { name, folder: name, file: `${name}/schema.graphql`, url: "", owner: `@acme/${name}`, sdl: link + sdl };
  });
  const graph = composeSchemas(sources);
  if (!graph.ok) throw new Error(JSON.stringify(graph.errors));
  return { ...graph, sources };
}
