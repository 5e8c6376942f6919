import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const products = [
  { id: "1", price: 100 },
  { id: "2", price: 5000 },
  { id: "3", price: null },
];
const ids = products.map(({ id }) => ({ id }));
const isExpensive = ({ price }: { price: number | null }) => (price === null ? null : price > 1000);
const canAfford = (product: { isExpensive: boolean | null }) =>
  product.isExpensive === null ? null : !product.isExpensive;
const advice = (product: { canAfford: boolean | null }) => (product.canAfford === true ? "buy" : "leave");

/** A required field that itself requires another one, three deep, and twice in the same subgraph. */
export const requiresChained: SupergraphCase = {
  name: "requires-chained",
  subgraphs: [
    {
      name: "prices",
      typeDefs: `
        type Query { products: [Product] product(id: ID!): Product }
        type Product @key(fields: "id") { id: ID! price: Int }
      `,
      resolvers: {
        Query: { products: () => products, product: findByArguments(products, "id") },
        Product: { __resolveReference: findIn(products, "id") },
      },
    },
    {
      name: "labels",
      typeDefs: `
        type Product @key(fields: "id") {
          id: ID! price: Int @external canAfford: Boolean @external
          isExpensive: Boolean @requires(fields: "price")
          advice: String @requires(fields: "canAfford")
        }
      `,
      resolvers: { Product: { __resolveReference: findIn(ids, "id"), isExpensive, advice } },
    },
    {
      name: "wallets",
      typeDefs: `
        type Product @key(fields: "id") {
          id: ID! isExpensive: Boolean @external
          canAfford: Boolean @requires(fields: "isExpensive")
        }
      `,
      resolvers: { Product: { __resolveReference: findIn(ids, "id"), canAfford } },
    },
  ],
  monolith: {
    Query: { products: () => products, product: findByArguments(products, "id") },
    Product: {
      isExpensive,
      canAfford: (product: { price: number }) => canAfford({ isExpensive: isExpensive(product) }),
      advice: (product: { price: number }) => advice({ canAfford: canAfford({ isExpensive: isExpensive(product) }) }),
    },
  },
  argumentValues: { id: ["1", "2", "9"] },
  stockDiffers: {
    plain: "fetches isExpensive before the price that it requires",
    colliding: "the same, and an alias with the name of a key or required field is taken for that field",
  },
  cases: [
    {
      name: "the chain is walked to its end",
      query: "{ products { advice } }",
      expected: { data: { products: [{ advice: "buy" }, { advice: "leave" }, { advice: "leave" }] } },
      stockIsWrong: "fetches isExpensive before the price that it requires: buy for all",
    },
    {
      name: "a required null is given as null",
      query: '{ product(id: "3") { id isExpensive canAfford } }',
      expected: { data: { product: { id: "3", isExpensive: null, canAfford: null } } },
    },
    {
      name: "aliases with the names of the chain's links change nothing",
      query: '{ product(id: "1") { price: id isExpensive: advice canAfford: price advice: canAfford } }',
      expected: { data: { product: { price: "1", isExpensive: "buy", canAfford: 100, advice: true } } },
      stockIsWrong: "a required field under an alias: canAfford is null with INVALID_FIELD_VALUE",
    },
  ],
};
