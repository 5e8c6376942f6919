import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const products = [
  { id: "p1", upc: "u1", price: 100, weight: 3 },
  { id: "p2", upc: "u2", price: 20, weight: 8 },
];
const stubs = products.map(({ id, upc }) => ({ id, upc }));
const shipping = ({ price, weight }: { price: number; weight: number }) => (price > 50 ? 0 : weight * 2);

/** A subgraph with two keys, which resolves only the second one, and is fetched again after a `@requires`. */
export const keysReentry: SupergraphCase = {
  name: "keys-reentry",
  subgraphs: [
    {
      name: "catalog",
      typeDefs: `
        type Query { product(upc: ID!): Product }
        type Product @key(fields: "upc") { upc: ID! price: Int weight: Int }
      `,
      resolvers: {
        Query: { product: findByArguments(products, "upc") },
        Product: { __resolveReference: findIn(products, "upc") },
      },
    },
    {
      name: "stocks",
      typeDefs: `
        type Query { stocked: [Product!] }
        type Product @key(fields: "id", resolvable: false) @key(fields: "upc") {
          id: ID! upc: ID! price: Int @external weight: Int @external
          shipping: Int @requires(fields: "price weight")
        }
      `,
      resolvers: {
        Query: { stocked: () => stubs },
        Product: { __resolveReference: findIn(stubs, "upc"), shipping },
      },
    },
  ],
  monolith: {
    Query: { product: findByArguments(products, "upc"), stocked: () => products },
    Product: { shipping },
  },
  argumentValues: { upc: ["u1", "u2", "u3"] },
  stockDiffers: {
    plain: "fetches the subgraph again by the key that it does not resolve",
    colliding: "the same, and an alias with the name of a key or required field is taken for that field",
  },
  cases: [
    {
      name: "a subgraph is entered again by the key that it resolves",
      query: "{ stocked { shipping } }",
      expected: { data: { stocked: [{ shipping: 0 }, { shipping: 16 }] } },
      stockIsWrong: "enters it by id: shipping is null everywhere, without an error",
    },
    {
      name: "the key that it does not resolve can be selected",
      query: '{ product(upc: "u2") { id shipping } }',
      expected: { data: { product: { id: "p2", shipping: 16 } } },
    },
  ],
};
