import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const notes = [
  { id: "n1", text: "Dry" },
  { id: "n2", text: "Sweet" },
];
const wines = [
  { id: "w1", regions: [{ id: "r1", name: "Mosel", notes: [notes[0]] }] },
  {
    id: "w2",
    regions: [
      { id: "r1", name: "Mosel", notes: [notes[0]] },
      { id: "r2", name: "Jura", notes: [] },
    ],
  },
];
const regions = wines.flatMap((wine) => wine.regions);

/** `@provides` of nested objects, which the subgraph resolves only there. */
export const providesNested: SupergraphCase = {
  name: "provides-nested",
  subgraphs: [
    {
      name: "cellar",
      typeDefs: `
        type Query {
          wines: [Wine!] @provides(fields: "regions { id name notes { id text } }")
          bottles: [Wine!]
        }
        type Wine @key(fields: "id") { id: ID! regions: [Region!] @external }
        type Region @key(fields: "id") { id: ID! name: String @external notes: [Note!] @external }
        type Note @key(fields: "id") { id: ID! text: String @external }
      `,
      resolvers: { Query: { wines: () => wines, bottles: () => wines.map(({ id }) => ({ id })) } },
    },
    {
      name: "atlas",
      typeDefs: `
        type Wine @key(fields: "id") { id: ID! regions: [Region!] @shareable }
        type Region @key(fields: "id") { id: ID! name: String @shareable notes: [Note!] @shareable acres: Int }
        type Note @key(fields: "id") { id: ID! text: String @shareable }
      `,
      resolvers: {
        Wine: { __resolveReference: findIn(wines, "id") },
        Region: { __resolveReference: findIn(regions, "id"), acres: ({ id }: { id: string }) => (id === "r1" ? 0 : 2) },
        Note: { __resolveReference: findIn(notes, "id") },
      },
    },
  ],
  monolith: {
    Query: { wines: () => wines, bottles: () => wines },
    Region: { acres: ({ id }: { id: string }) => (id === "r1" ? 0 : 2) },
  },
  stockDiffers: { colliding: "an alias with the name of a key is taken for the key" },
  cases: [
    {
      name: "what is provided within what is provided is there",
      query: "{ wines { id regions { name notes { text } } } }",
      expected: {
        data: {
          wines: [
            { id: "w1", regions: [{ name: "Mosel", notes: [{ text: "Dry" }] }] },
            {
              id: "w2",
              regions: [
                { name: "Mosel", notes: [{ text: "Dry" }] },
                { name: "Jura", notes: [] },
              ],
            },
          ],
        },
      },
    },
    {
      name: "a field that is not provided is joined to the provided ones, and without @provides all fields are fetched from their owner",
      query: "{ wines { regions { acres name } } bottles { regions { id name } } }",
      expected: {
        data: {
          wines: [
            { regions: [{ acres: 0, name: "Mosel" }] },
            {
              regions: [
                { acres: 0, name: "Mosel" },
                { acres: 2, name: "Jura" },
              ],
            },
          ],
          bottles: [
            { regions: [{ id: "r1", name: "Mosel" }] },
            {
              regions: [
                { id: "r1", name: "Mosel" },
                { id: "r2", name: "Jura" },
              ],
            },
          ],
        },
      },
    },
  ],
};
