import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const parks = [
  { __typename: "Park", id: "1", label: "Old Town", acres: 3 },
  { __typename: "Park", id: "2", label: "Lake", acres: 40 },
];
const ids = parks.map(({ id }) => ({ __typename: "Park", id }));
const stale = parks.map((park) => ({ ...park, label: "stale" }));
const signOf = ({ label }: { label: string }) => `* ${label} *`;

/** Overridden fields: one that its former subgraph and another one require; one from a removed subgraph; one of an interface. */
export const overrideRequires: SupergraphCase = {
  name: "override-requires",
  subgraphs: [
    {
      name: "city",
      typeDefs: `
        type Query { parks: [Place!] greens: [Park!] }
        interface Place { id: ID! label: String }
        type Park implements Place @key(fields: "id") { id: ID! label: String acres: Int @override(from: "surveyors") }
      `,
      resolvers: {
        Query: { parks: () => stale, greens: () => stale },
        Park: { __resolveReference: findIn(stale, "id") },
      },
    },
    {
      name: "names",
      typeDefs: `type Park @key(fields: "id") { id: ID! label: String @override(from: "city") }`,
      resolvers: { Park: { __resolveReference: findIn(parks, "id") } },
    },
    {
      name: "signs",
      typeDefs: `
        type Query { signed: [Park!] }
        type Park @key(fields: "id") { id: ID! label: String @external sign: String @requires(fields: "label") }
      `,
      resolvers: { Query: { signed: () => ids }, Park: { __resolveReference: findIn(ids, "id"), sign: signOf } },
    },
  ],
  monolith: { Query: { parks: () => parks, greens: () => parks, signed: () => parks }, Park: { sign: signOf } },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "a required field is fetched from its new subgraph",
      query: "{ greens { sign acres } signed { sign label } }",
      expected: {
        data: {
          greens: [
            { sign: "* Old Town *", acres: 3 },
            { sign: "* Lake *", acres: 40 },
          ],
          signed: [
            { sign: "* Old Town *", label: "Old Town" },
            { sign: "* Lake *", label: "Lake" },
          ],
        },
      },
    },
    {
      name: "behind an interface, too",
      query: "{ parks { label ... on Park { sign } } }",
      expected: {
        data: {
          parks: [
            { label: "Old Town", sign: "* Old Town *" },
            { label: "Lake", sign: "* Lake *" },
          ],
        },
      },
    },
  ],
};
