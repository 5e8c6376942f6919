import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const products = [
  { id: "p1", upc: "u1", name: "Table" },
  { id: "p2", upc: "u2", name: "Couch" },
];
const prices = [
  { upc: "u1", price: 899 },
  { upc: "u2", price: 1299 },
];
const stocks = [
  { id: "p1", amount: 0 },
  { id: "p2", amount: 7 },
];

/** An entity with two keys: the subgraph `amounts` has only one of them, the subgraph `prices` only the other. */
export const keysMultiple: SupergraphCase = {
  name: "keys-multiple",
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
      name: "prices",
      typeDefs: `
        type Query { cheapest: Product }
        type Product @key(fields: "upc") { upc: ID! price: Int }
      `,
      resolvers: {
        Query: { cheapest: () => prices[0] },
        Product: { __resolveReference: findIn(prices, "upc") },
      },
    },
    {
      name: "stocks",
      typeDefs: `
        type Query { stocked: [Product] }
        type Product @key(fields: "id") { id: ID! amount: Int }
      `,
      resolvers: { Query: { stocked: () => stocks }, Product: { __resolveReference: findIn(stocks, "id") } },
    },
  ],
  monolith: {
    Query: {
      product: findByArguments(products, "id"),
      cheapest: () => products[0],
      stocked: () => products,
    },
    Product: {
      price: ({ upc }: { upc: string }) => prices.find((row) => row.upc === upc)?.price,
      amount: ({ id }: { id: string }) => stocks.find((row) => row.id === id)?.amount,
    },
  },
  argumentValues: { id: ["p1", "p2", "p3"] },
  cases: [
    {
      name: "the second key is fetched from the subgraph that has both",
      query: "{ stocked { amount price } }",
      expected: {
        data: {
          stocked: [
            { amount: 0, price: 899 },
            { amount: 7, price: 1299 },
          ],
        },
      },
    },
    {
      name: "and back",
      query: "{ cheapest { amount name } }",
      expected: { data: { cheapest: { amount: 0, name: "Table" } } },
    },
    {
      name: "aliases that exchange the keys change nothing",
      query: "{ stocked { id: upc upc: id price amount } }",
      expected: {
        data: {
          stocked: [
            { id: "u1", upc: "p1", price: 899, amount: 0 },
            { id: "u2", upc: "p2", price: 1299, amount: 7 },
          ],
        },
      },
      stockIsWrong: "returns the key upc under its alias and under the alias upc",
    },
  ],
};
