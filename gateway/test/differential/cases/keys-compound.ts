import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const seats = [
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
        type Query { seats: [Seat!] seat(hall: String!, number: Int!): Seat }
        type Seat @key(fields: "hall number") { hall: String! number: Int! view: String }
      `,
      resolvers: {
        Query: { seats: () => seats, seat: findByArguments(seats, "hall", "number") },
        Seat: { __resolveReference: findIn(seats, "hall", "number") },
      },
    },
    {
      name: "tickets",
      typeDefs: `
        type Query { dearest: Seat }
        type Seat @key(fields: "number hall") { number: Int! hall: String! price: Int }
      `,
      resolvers: {
        Query: { dearest: () => prices[0] },
        Seat: { __resolveReference: findIn(prices, "hall", "number") },
      },
    },
  ],
  monolith: {
    Query: { seats: () => seats, seat: findByArguments(seats, "hall", "number"), dearest: () => seats[0] },
    Seat: { price: (seat: (typeof seats)[number]) => prices.find(samePlace(seat))?.price },
  },
  argumentValues: { hall: ["A", "B"], number: [1, 2] },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "every seat gets its own price",
      query: "{ seats { price view } }",
      expected: {
        data: {
          seats: [
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
      query: '{ seat(hall: "B", number: 1) { hall: view number: price } }',
      expected: { data: { seat: { hall: "none", number: 1 } } },
      stockIsWrong: "answers the key fields under the aliases",
    },
  ],
};
