import type { SupergraphCase } from "../supergraph-case.ts";

const names = [
  { id: "1", name: { id: "n1", brand: "Vespa" } },
  { id: "2", name: { id: "n2", brand: "Fiat" } },
];
const prices = [
  { id: "1", price: { id: "e1", amount: 0 } },
  { id: "2", price: null },
];
const kinds = [
  { id: "1", kind: { name: "scooter", wheels: [1, 2] } },
  { id: "2", kind: { name: "car", wheels: [] } },
];
const offers = names.map((row, i) => ({ ...row, ...prices[i], ...kinds[i] }));

let booked = 0;
const book = (_: unknown, { by }: { by: number }) => ({ number: (booked += by), note: "paid" });

/** Lists and objects without keys, whose parts three subgraphs resolve; and a mutation that two subgraphs have. */
export const shareableLists: SupergraphCase = {
  name: "shareable-lists",
  reset: () => void (booked = 0),
  subgraphs: [
    {
      name: "names",
      typeDefs: `
        type Query { offers: [Offer!]! @shareable best: Offer @shareable }
        type Mutation { book(by: Int!): Booking @shareable }
        type Offer { id: ID! @shareable name: Name }
        type Name { id: ID! brand: String }
        type Booking @shareable { number: Int note: String }
      `,
      resolvers: { Query: { offers: () => names, best: () => names[1] }, Mutation: { book } },
    },
    {
      name: "prices",
      typeDefs: `
        type Query { offers: [Offer!]! @shareable best: Offer @shareable }
        type Mutation { book(by: Int!): Booking @shareable }
        type Offer { id: ID! @shareable price: Price }
        type Price { id: ID! amount: Int }
        type Booking @shareable { number: Int note: String }
      `,
      resolvers: { Query: { offers: () => prices, best: () => prices[1] }, Mutation: { book } },
    },
    {
      name: "kinds",
      typeDefs: `
        type Query { offers: [Offer!]! @shareable best: Offer @shareable }
        type Offer { id: ID! @shareable kind: Kind }
        type Kind { name: String wheels: [Int!] }
      `,
      resolvers: { Query: { offers: () => kinds, best: () => kinds[1] } },
    },
  ],
  monolith: { Query: { offers: () => offers, best: () => offers[1] }, Mutation: { book } },
  argumentValues: { by: [1, 2] },
  cases: [
    {
      name: "the entries of a list from three subgraphs are merged one by one",
      query: "{ offers { id name { brand } price { amount } kind { wheels name } } }",
      expected: {
        data: {
          offers: [
            { id: "1", name: { brand: "Vespa" }, price: { amount: 0 }, kind: { wheels: [1, 2], name: "scooter" } },
            { id: "2", name: { brand: "Fiat" }, price: null, kind: { wheels: [], name: "car" } },
          ],
        },
      },
    },
    {
      name: "an alias with a sibling's name changes nothing in what is put together",
      query: "{ best { name: price { amount } price: name { id: brand } kind { name } } }",
      expected: { data: { best: { name: null, price: { id: "Fiat" }, kind: { name: "car" } } } },
    },
    {
      name: "a mutation that two subgraphs could run runs once",
      query: "mutation { book(by: 2) { number note } more: book(by: 1) { number } }",
      expected: { data: { book: { number: 2, note: "paid" }, more: { number: 3 } } },
    },
  ],
};
