import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const products = [
  { id: "p1", upc: "u1", name: "Table" },
  { id: "p2", upc: "u2", name: "Couch" },
];
const stocks = [
  { upc: "u1", id: "p1", amount: 3 },
  { upc: "u2", id: "p2", amount: 0 },
];

/** Keys with `resolvable: false`. The subgraph `stocks` returns two keys, and resolves only the second. */
export const keysNonResolvable: SupergraphCase = {
  name: "keys-non-resolvable",
  subgraphs: [
    {
      name: "catalog",
      typeDefs: `
        type Query { product(id: ID!): Product }
        type Product @key(fields: "id") @key(fields: "upc") { id: ID! upc: ID! name: String }
      `,
      resolvers: {
        Query: { product: findByArguments(products, "id") },
        Product: {
          __resolveReference: (reference: { id?: string }) =>
            findIn(products, reference.id === undefined ? "upc" : "id")(reference),
        },
      },
    },
    {
      name: "stocks",
      typeDefs: `
        type Query { stocked: [Product] }
        type Product @key(fields: "id", resolvable: false) @key(fields: "upc") { id: ID! upc: ID! amount: Int }
      `,
      resolvers: {
        Query: { stocked: () => stocks },
        Product: { __resolveReference: findIn(stocks, "upc") },
      },
    },
    {
      name: "wishes",
      typeDefs: `
        type Query { wishes: [Wish] }
        type Wish { reason: String product: Product }
        type Product @key(fields: "id", resolvable: false) { id: ID! }
      `,
      resolvers: { Query: { wishes: () => [{ reason: "Tired", product: { id: "p2" } }] } },
    },
  ],
  monolith: {
    Query: {
      product: findByArguments(products, "id"),
      stocked: () => products,
      wishes: () => [{ reason: "Tired", product: products[1] }],
    },
    Product: { amount: ({ upc }: { upc: string }) => stocks.find((row) => row.upc === upc)?.amount },
  },
  argumentValues: { id: ["p1", "p2", "p3"] },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "a stub leads to the subgraph that resolves it",
      query: "{ wishes { reason product { id name } } }",
      expected: { data: { wishes: [{ reason: "Tired", product: { id: "p2", name: "Couch" } }] } },
    },
    {
      name: "a subgraph is entered by the key that it resolves",
      query: '{ product(id: "p1") { amount name } }',
      expected: { data: { product: { amount: 3, name: "Table" } } },
    },
    {
      name: "a stub leads through a second subgraph to a third",
      query: "{ wishes { product { amount } } }",
      expected: { data: { wishes: [{ product: { amount: 0 } }] } },
    },
  ],
};
