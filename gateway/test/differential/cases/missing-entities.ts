import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const products = [
  { id: "1", code: "a", name: "Table" },
  { id: "2", code: null, name: "Couch" },
  { id: "3", code: "c", name: "Chair" },
];
const prices = [{ code: "a", price: 899, currency: "EUR" }];
const priceOf = (code: string | null) => prices.find((row) => row.code === code);

/** Entities that the other subgraph does not have, and entities whose key is null. */
export const missingEntities: SupergraphCase = {
  name: "missing-entities",
  subgraphs: [
    {
      name: "products",
      typeDefs: `
        type Query { products: [Product] product(id: ID!): Product strict(id: ID!): Holder }
        type Holder { product: Product! }
        type Product @key(fields: "code") { id: ID! code: ID name: String }
      `,
      resolvers: {
        Query: {
          products: () => [...products, null],
          product: findByArguments(products, "id"),
          strict: (_: unknown, { id }: { id: string }) => ({ product: findIn(products, "id")({ id }) ?? products[0] }),
        },
        Product: { __resolveReference: findIn(products, "code") },
      },
    },
    {
      name: "prices",
      typeDefs: `type Product @key(fields: "code") { code: ID price: Int currency: String! }`,
      resolvers: { Product: { __resolveReference: findIn(prices, "code") } },
    },
  ],
  monolith: {
    Query: {
      products: () => [...products, null],
      product: findByArguments(products, "id"),
      strict: (_, { id }: { id: string }) => ({ product: findIn(products, "id")({ id }) ?? products[0] }),
    },
    Product: {
      price: ({ code }: { code: string | null }) => priceOf(code)?.price,
      currency: ({ code }: { code: string | null }) => priceOf(code)?.currency,
    },
  },
  argumentValues: { id: ["1", "2", "3", "9"] },
  cases: [
    {
      name: "what a subgraph does not have is null, without an error",
      query: "{ products { name price } }",
      expected: {
        data: {
          products: [
            { name: "Table", price: 899 },
            { name: "Couch", price: null },
            { name: "Chair", price: null },
            null,
          ],
        },
      },
    },
    {
      name: "if the missing field is non-null, the nearest nullable field is null, with an error at its path",
      query: '{ missing: product(id: "3") { name currency } there: product(id: "1") { currency } }',
      expected: {
        data: { missing: null, there: { currency: "EUR" } },
        errors: [{ path: ["missing", "currency"], code: "NOT_FOUND" }],
      },
    },
    {
      name: "a null rises past an object that may not be null",
      query: '{ strict(id: "2") { product { currency } } }',
      expected: { data: { strict: null }, errors: [{ path: ["strict", "product", "currency"], code: "NOT_FOUND" }] },
    },
  ],
};
