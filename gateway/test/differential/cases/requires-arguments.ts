import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

type Currency = "USD" | "EUR";
const products = [
  { upc: "1", name: "Table", usd: 800, eur: 500 },
  { upc: "2", name: "Chair", usd: 50, eur: 40 },
];
const upcs = products.map(({ upc }) => ({ upc }));
const price = ({ usd, eur }: { usd: number; eur: number }, { currency }: { currency: Currency }) =>
  currency === "EUR" ? eur : usd;

/** `@requires` of a field with arguments, which clients select with other arguments. */
export const requiresArguments: SupergraphCase = {
  name: "requires-arguments",
  subgraphs: [
    {
      name: "products",
      typeDefs: `
        type Query { products: [Product!] product(upc: ID!): Product }
        type Product @key(fields: "upc") { upc: ID! name: String price(currency: Currency! = USD): Int }
        enum Currency { USD EUR }
      `,
      resolvers: {
        Query: { products: () => products, product: findByArguments(products, "upc") },
        Product: { __resolveReference: findIn(products, "upc"), price },
      },
    },
    {
      name: "taxes",
      typeDefs: `
        type Product @key(fields: "upc") {
          upc: ID! price(currency: Currency! = USD): Int @external
          tax: Int @requires(fields: "price(currency: EUR)")
        }
        enum Currency { USD EUR }
      `,
      resolvers: {
        Product: { __resolveReference: findIn(upcs, "upc"), tax: ({ price }: { price: number }) => price / 10 },
      },
    },
  ],
  monolith: {
    Query: { products: () => products, product: findByArguments(products, "upc") },
    Product: { price, tax: ({ eur }: { eur: number }) => eur / 10 },
  },
  argumentValues: { upc: ["1", "2", "9"] },
  stockDiffers: {
    plain: "the required field's argument and the client's are mixed up",
    colliding: "the same, and an alias with the name of a key or required field is taken for that field",
  },
  cases: [
    {
      name: "the required field is fetched with the argument of @requires",
      query: "{ products { name tax } }",
      expected: {
        data: {
          products: [
            { name: "Table", tax: 50 },
            { name: "Chair", tax: 4 },
          ],
        },
      },
    },
    {
      name: "a client that selects the required field with another argument gets correct values for both",
      query: '{ product(upc: "1") { price(currency: USD) tax } }',
      expected: { data: { product: { price: 800, tax: 50 } } },
      stockIsWrong: "requires the price with the client's argument: tax 80",
    },
    {
      name: "and with a variable",
      query: "query ($c: Currency! = USD) { products { tax price(currency: $c) euros: price(currency: EUR) } }",
      variables: { c: "USD" },
      expected: {
        data: {
          products: [
            { tax: 50, price: 800, euros: 500 },
            { tax: 4, price: 50, euros: 40 },
          ],
        },
      },
      stockIsWrong: "returns the required euros as the price in dollars",
    },
  ],
};
