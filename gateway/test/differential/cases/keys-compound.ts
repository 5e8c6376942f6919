import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const spots = [
  { hall: "A", number: 1, view: "good" },
  { hall: "A", number: 2, view: "bad" },
  { hall: "B", number: 1, view: "none" },
];
const prices = [
  { hall: "A", number: 1, price: 10 },
  { hall: "A", number: 2, price: 5 },
  { hall: "B", number: 1, price: 1 },
];
const samePlace = (one: { hall: string; number: number }) => (other: typeof one) =>
  one.hall === other.hall && one.number === other.number;

/** A key of two fields, neither of which is unique. */
export const keysCompound: SupergraphCase = {
  name: "keys-compound",
  subgraphs: [
    {
      name: "halls",
      typeDefs: `
        type Query { spots: [Spot!] spot(hall: String!, number: Int!): Spot }
        type Spot @key(fields: "hall number") { hall: String! number: Int! view: String }
      `,
      resolvers: {
        Query: { spots: () => spots, spot: findByArguments(spots, "hall", "number") },
        Spot: { __resolveReference: findIn(spots, "hall", "number") },
      },
    },
    {
      name: "tickets",
      typeDefs: `
        type Query { dearest: Spot }
        type Spot @key(fields: "number hall") { number: Int! hall: String! price: Int }
      `,
      resolvers: {
        Query: { dearest: () => prices[0] },
        Spot: { __resolveReference: findIn(prices, "hall", "number") },
      },
    },
  ],
  monolith: {
    Query: { spots: () => spots, spot: findByArguments(spots, "hall", "number"), dearest: () => spots[0] },
    Spot: { price: (spot: (typeof spots)[number]) => prices.find(samePlace(spot))?.price },
  },
  argumentValues: { hall: ["A", "B"], number: [1, 2] },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "every spot gets its own price",
      query: "{ spots { price view } }",
      expected: {
        data: {
          spots: [
            { price: 10, view: "good" },
            { price: 5, view: "bad" },
            { price: 1, view: "none" },
          ],
        },
      },
    },
    {
      name: "a key with its fields in another order is the same key",
      query: "{ dearest { view hall } }",
      expected: { data: { dearest: { view: "good", hall: "A" } } },
    },
    {
      name: "aliases with the names of both key fields change nothing",
      query: '{ spot(hall: "B", number: 1) { hall: view number: price } }',
      expected: { data: { spot: { hall: "none", number: 1 } } },
      stockIsWrong: "returns the key fields under the aliases",
    },
  ],
};
