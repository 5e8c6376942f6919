import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const things = [{ id: "1", name: "Table", size: { width: 3 } }];
const prices = [{ id: "1", price: 899 }];

/** Response names that every JavaScript object has already, or that make it a promise. */
export const prototypeNames: SupergraphCase = {
  name: "prototype-names",
  subgraphs: [
    {
      name: "things",
      typeDefs: `
        type Query { things: [Thing] thing(id: ID!): Thing }
        type Thing @key(fields: "id") { id: ID! name: String size: Size }
        type Size { width: Int }
      `,
      resolvers: {
        Query: { things: () => things, thing: findByArguments(things, "id") },
        Thing: { __resolveReference: findIn(things, "id") },
      },
    },
    {
      name: "prices",
      typeDefs: `type Thing @key(fields: "id") { id: ID! price: Int }`,
      resolvers: { Thing: { __resolveReference: findIn(prices, "id") } },
    },
  ],
  monolith: {
    Query: { things: () => things, thing: findByArguments(things, "id") },
    Thing: { price: () => 899 },
  },
  argumentValues: { id: ["1", "9"] },
  cases: [
    {
      name: "names on the object prototype are names like any other",
      query: "{ constructor: things { toString: name hasOwnProperty: price valueOf: size { width } } }",
      expected: {
        data: { constructor: [{ toString: "Table", hasOwnProperty: 899, valueOf: { width: 3 } }] },
      },
    },
    {
      name: "a leaf named __proto__ is there",
      query: "{ things { __proto__: price id } }",
      expected: { data: { things: [{ ["__proto__"]: 899, id: "1" }] } },
    },
    {
      name: "an object named __proto__ is there, with fields of another subgraph in it",
      query: '{ __proto__: thing(id: "1") { price __proto__: size { width } } }',
      expected: { data: { ["__proto__"]: { price: 899, ["__proto__"]: { width: 3 } } } },
    },
    {
      name: "then is a name, and no promise",
      query: '{ then: thing(id: "1") { then: name price } }',
      // As text: the linter takes an object with `then` for a mistake.
      expected: { data: JSON.parse('{ "then": { "then": "Table", "price": 899 } }') },
    },
  ],
};
