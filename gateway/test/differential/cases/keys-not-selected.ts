import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const sailors = [
  { id: "1", mail: "ines@sea.example", ship: { hull: "h1" } },
  { id: "2", mail: "jon@sea.example", ship: { hull: "h2" } },
];
const rankOf = (mail: string) => (mail.startsWith("ines") ? { rank: "captain" } : null);
const tonsOf = (hull: string) => ({ tons: hull === "h1" ? 900 : 40 });

/** Subgraphs that are entered by a key of another's, and find the entity without giving the key back. */
export const keysNotSelected: SupergraphCase = {
  name: "keys-not-selected",
  subgraphs: [
    {
      name: "crew",
      typeDefs: `
        type Query { sailors: [Sailor!] }
        type Sailor @key(fields: "id") { id: ID! mail: String! ship: Ship }
        type Ship @key(fields: "hull") { hull: ID! }
      `,
      resolvers: { Query: { sailors: () => sailors }, Sailor: { __resolveReference: findIn(sailors, "id") } },
    },
    {
      name: "ranks",
      typeDefs: `type Sailor @key(fields: "mail") { mail: String! @external rank: String! }`,
      resolvers: { Sailor: { __resolveReference: ({ mail }: { mail: string }) => rankOf(mail) } },
    },
    {
      name: "yard",
      typeDefs: `extend type Ship @key(fields: "hull") { hull: ID! @external tons: Int }`,
      resolvers: { Ship: { __resolveReference: ({ hull }: { hull: string }) => tonsOf(hull) } },
    },
    {
      name: "pay",
      typeDefs: `
        type Sailor @key(fields: "id") { id: ID! wage: Int }
        type Ship @key(fields: "hull") { hull: ID! value: Int }
      `,
      resolvers: {
        Sailor: { __resolveReference: ({ id }: { id: string }) => ({ wage: Number(id) * 100 }) },
        Ship: { __resolveReference: ({ hull }: { hull: string }) => ({ hull, value: hull.length }) },
      },
    },
  ],
  monolith: {
    Query: { sailors: () => sailors },
    Sailor: {
      rank: ({ mail }: { mail: string }) => rankOf(mail)?.rank,
      wage: ({ id }: { id: string }) => Number(id) * 100,
    },
    Ship: {
      tons: ({ hull }: { hull: string }) => tonsOf(hull).tons,
      value: ({ hull }: { hull: string }) => hull.length,
    },
  },
  stockDiffers: { colliding: "an alias with the name of a key is taken for the key" },
  cases: [
    {
      name: "a key that is external in the subgraph is not fetched from it",
      query: "{ sailors { ship { hull } id } first: sailors { mail } }",
      expected: {
        data: {
          sailors: [
            { ship: { hull: "h1" }, id: "1" },
            { ship: { hull: "h2" }, id: "2" },
          ],
          first: [{ mail: "ines@sea.example" }, { mail: "jon@sea.example" }],
        },
      },
    },
    {
      name: "an entity without its key is accepted as the requested one",
      query: "{ sailors { id ship { tons } } }",
      expected: {
        data: {
          sailors: [
            { id: "1", ship: { tons: 900 } },
            { id: "2", ship: { tons: 40 } },
          ],
        },
      },
    },
    {
      name: "an entity whose subgraph does not return its non-null key is not lost",
      query: "{ sailors { wage ship { value } } }",
      expected: {
        data: {
          sailors: [
            { wage: 100, ship: { value: 2 } },
            { wage: 200, ship: { value: 2 } },
          ],
        },
      },
    },
    {
      name: "where there is none, a field that may not be null has an error",
      query: "{ sailors { rank } }",
      expected: { data: { sailors: null }, errors: [{ path: ["sailors", 1, "rank"] }] },
    },
  ],
};
