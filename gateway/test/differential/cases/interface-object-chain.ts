import { type SupergraphCase, findByArguments } from "../supergraph-case.ts";

const media = [
  { __typename: "Film", id: "1", title: "Heat", minutes: 170, votes: 40 },
  { __typename: "Show", id: "2", title: "Lost", seasons: 6, votes: 7 },
];
type Row = (typeof media)[number];
const find = ({ id }: { id: string }) => media.find((row) => row.id === id) ?? null;
const score = ({ id }: { id: string }, { per }: { per: number }) => (find({ id })?.votes ?? 0) * per;
const rank = ({ score }: { score: number }) => (score > 100 ? "A" : "B");
const badge = ({ rank }: { rank: string }) => `badge ${rank}`;
const rankOf = (row: Row) => rank({ score: score(row, { per: 10 }) });
const ofRow = { score, rank: rankOf, badge: (row: Row) => badge({ rank: rankOf(row) }) };

/** A chain of `@requires` over subgraphs in which an interface is an `@interfaceObject`. */
export const interfaceObjectChain: SupergraphCase = {
  name: "interface-object-chain",
  subgraphs: [
    {
      name: "media",
      typeDefs: `
        type Query { media: [Media!] film(id: ID!): Film }
        interface Media @key(fields: "id") { id: ID! title: String }
        type Film implements Media @key(fields: "id") { id: ID! title: String minutes: Int }
        type Show implements Media @key(fields: "id") { id: ID! title: String seasons: Int }
      `,
      resolvers: {
        Query: { media: () => media, film: findByArguments(media.slice(0, 1), "id") },
        Media: { __resolveReference: find, __resolveType: ({ __typename }: Row) => __typename },
        Film: { __resolveReference: find },
        Show: { __resolveReference: find },
      },
    },
    {
      name: "votes",
      typeDefs: 'type Media @key(fields: "id") @interfaceObject { id: ID! score(per: Int! = 1): Int }',
      resolvers: { Media: { score } },
    },
    {
      name: "ranks",
      typeDefs: `
        type Media @key(fields: "id") @interfaceObject {
          id: ID! score(per: Int! = 1): Int @external rank: String @requires(fields: "score(per: 10)")
        }
      `,
      resolvers: { Media: { rank } },
    },
    {
      name: "badges",
      typeDefs: `
        type Query { best: Media }
        type Media @key(fields: "id") @interfaceObject { id: ID! rank: String @external badge: String @requires(fields: "rank") }
      `,
      resolvers: { Query: { best: () => ({ id: "1" }) }, Media: { badge } },
    },
  ],
  monolith: {
    Query: { media: () => media, film: findByArguments(media.slice(0, 1), "id"), best: () => media[0] },
    Film: ofRow,
    Show: ofRow,
  },
  argumentValues: { id: ["1", "2", "9"], per: [1, 2] },
  stockDiffers: { plain: "cannot plan the chain", colliding: "cannot plan the chain" },
  cases: [
    {
      name: "the chain is walked for objects of each type",
      query: "{ media { title badge } }",
      expected: {
        data: {
          media: [
            { title: "Heat", badge: "badge A" },
            { title: "Lost", badge: "badge B" },
          ],
        },
      },
      stockIsWrong: "cannot plan it",
    },
    {
      name: "and from a subgraph without the types",
      query: "{ best { __typename rank badge score(per: 2) ... on Film { minutes } } }",
      expected: { data: { best: { __typename: "Film", rank: "A", badge: "badge A", score: 80, minutes: 170 } } },
      stockIsWrong: "cannot plan it",
    },
    {
      name: "one response name with different arguments for two types brings each type its own",
      query: `{ media { ... on Film { score(per: 1) again: badge } ... on Show { score(per: 2) again: rank } badge } }`,
      expected: {
        data: {
          media: [
            { score: 40, again: "badge A", badge: "badge A" },
            { score: 14, again: "B", badge: "badge B" },
          ],
        },
      },
      stockIsWrong: "cannot plan it",
    },
  ],
};
