import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const cats = [{ __typename: "Cat", id: "c1", name: "Tom", lives: 9 }];
const dogs = [{ __typename: "Dog", id: "d1", name: "Rex", tricks: ["sit"] }];
const shown = [
  { __typename: "Cat", id: "c1", name: "Tom" },
  { __typename: "Dog", id: "d1", name: "Rex" },
];

/** `@provides` on a field that is an interface: for each type that implements it. */
export const providesInterface: SupergraphCase = {
  name: "provides-interface",
  subgraphs: [
    {
      name: "shows",
      typeDefs: `
        type Query { shown: [Pet!] @provides(fields: "... on Cat { name } ... on Dog { name }") seen: [Pet!] }
        interface Pet { id: ID! }
        type Cat implements Pet @key(fields: "id") { id: ID! name: String @external }
        type Dog implements Pet @key(fields: "id") { id: ID! name: String @external }
      `,
      resolvers: {
        Query: { shown: () => shown, seen: () => shown.map(({ __typename, id }) => ({ __typename, id })) },
      },
    },
    {
      name: "pets",
      typeDefs: `
        interface Pet { id: ID! name: String }
        type Cat implements Pet @key(fields: "id") { id: ID! name: String @shareable lives: Int }
        type Dog implements Pet @key(fields: "id") { id: ID! name: String @shareable tricks: [String!] }
      `,
      resolvers: { Cat: { __resolveReference: findIn(cats, "id") }, Dog: { __resolveReference: findIn(dogs, "id") } },
    },
  ],
  monolith: { Query: { shown: () => [...cats, ...dogs], seen: () => [...cats, ...dogs] } },
  cases: [
    {
      name: "the provided names are there for both types",
      query: "{ shown { __typename name } }",
      expected: {
        data: {
          shown: [
            { __typename: "Cat", name: "Tom" },
            { __typename: "Dog", name: "Rex" },
          ],
        },
      },
    },
    {
      name: "where nothing is provided the names come from the other subgraph",
      query: "{ seen { name ... on Dog { tricks } ... on Cat { lives } } }",
      expected: {
        data: {
          seen: [
            { name: "Tom", lives: 9 },
            { name: "Rex", tricks: ["sit"] },
          ],
        },
      },
    },
  ],
};
