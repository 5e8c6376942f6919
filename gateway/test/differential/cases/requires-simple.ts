import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const products = [
  { upc: "1", name: "Table", price: 899, weight: 100 },
  { upc: "2", name: "Couch", price: 1299, weight: 1000 },
  { upc: "3", name: "Chair", price: 54, weight: 50 },
];
const stocks = [
  { upc: "1", inStock: true },
  { upc: "2", inStock: false },
  { upc: "3", inStock: false },
];

/** Expensive things are sent for free, others cost half their weight. */
const estimate = ({ price, weight }: { price: number; weight: number }) => (price > 1000 ? 0 : weight / 2);

/** `@requires` of plain fields of another subgraph. */
export const requiresSimple: SupergraphCase = {
  name: "requires-simple",
  subgraphs: [
    {
      name: "products",
      typeDefs: `
        type Query { products: [Product!]! product(upc: ID!): Product }
        type Product @key(fields: "upc") { upc: ID! name: String price: Int weight: Int }
      `,
      resolvers: {
        Query: { products: () => products, product: findByArguments(products, "upc") },
        Product: { __resolveReference: findIn(products, "upc") },
      },
    },
    {
      name: "inventory",
      typeDefs: `
        type Product @key(fields: "upc") {
          upc: ID! price: Int @external weight: Int @external
          inStock: Boolean shippingEstimate: Float @requires(fields: "price weight")
        }
      `,
      resolvers: { Product: { __resolveReference: findIn(stocks, "upc"), shippingEstimate: estimate } },
    },
  ],
  monolith: {
    Query: { products: () => products, product: findByArguments(products, "upc") },
    Product: {
      inStock: ({ upc }: { upc: string }) => stocks.find((stock) => stock.upc === upc)?.inStock,
      shippingEstimate: estimate,
    },
  },
  argumentValues: { upc: ["1", "3", "9"] },
  stockDiffers: { colliding: "an alias with a required field's name is taken for the required field" },
  cases: [
    {
      name: "required fields are fetched from another subgraph, and are not in the response",
      query: "{ products { name inStock shippingEstimate } }",
      expected: {
        data: {
          products: [
            { name: "Table", inStock: true, shippingEstimate: 50 },
            { name: "Couch", inStock: false, shippingEstimate: 0 },
            { name: "Chair", inStock: false, shippingEstimate: 25 },
          ],
        },
      },
    },
    {
      name: "a required field under another name is still the required field",
      query: '{ product(upc: "2") { cost: price shippingEstimate price weight } }',
      expected: { data: { product: { cost: 1299, shippingEstimate: 0, price: 1299, weight: 1000 } } },
    },
    {
      name: "a field that is not included costs its neighbours nothing, whatever it requires",
      query: "query ($no: Boolean = false) { products { inStock shippingEstimate @include(if: $no) } }",
      expected: { data: { products: [{ inStock: true }, { inStock: false }, { inStock: false }] } },
      stockIsWrong: "sends no fetch to inventory: inStock is null everywhere, without an error",
    },
    {
      name: "an alias with the key's name changes nothing",
      query: "{ products { upc: name shippingEstimate } }",
      expected: {
        data: {
          products: [
            { upc: "Table", shippingEstimate: 50 },
            { upc: "Couch", shippingEstimate: 0 },
            { upc: "Chair", shippingEstimate: 25 },
          ],
        },
      },
      stockIsWrong: "returns the key under the alias: upc is 1, 2, 3",
    },
  ],
};
