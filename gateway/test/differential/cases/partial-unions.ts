import type { SupergraphCase } from "../supergraph-case.ts";

const book = { __typename: "Book", title: "Emma" };
const film = { __typename: "Film", title: "Heat" };
const game = { __typename: "Game", title: "Go" };

/** A union with different members in each subgraph, under fields that one or both subgraphs resolve. */
export const partialUnions: SupergraphCase = {
  name: "partial-unions",
  subgraphs: [
    {
      name: "one",
      typeDefs: `
        type Query { media: Media @shareable shelf: [Media!] }
        union Media = Book | Film
        type Book @shareable { title: String }
        type Film @shareable { title: String }
      `,
      resolvers: { Query: { media: () => book, shelf: () => [film, book] } },
    },
    {
      name: "two",
      typeDefs: `
        type Query { media: Media @shareable table: [Media!] }
        union Media = Book | Game
        type Book @shareable { title: String }
        type Game @shareable { title: String }
      `,
      resolvers: { Query: { media: () => book, table: () => [game, book] } },
    },
  ],
  monolith: { Query: { media: () => book, shelf: () => [film, book], table: () => [game, book] } },
  cases: [
    {
      name: "members that a subgraph does not have are not fetched from it",
      query: `{ shelf { ...Title } table { ...Title } }
        fragment Title on Media { ... on Book { title } ... on Film { title } ... on Game { title } }`,
      expected: {
        data: { shelf: [{ title: "Heat" }, { title: "Emma" }], table: [{ title: "Go" }, { title: "Emma" }] },
      },
    },
    {
      name: "a fragment on a member that cannot be here leaves an empty object",
      query: "{ shelf { ... on Game { title } } media { __typename ... on Game { title } } }",
      expected: { data: { shelf: [{}, {}], media: { __typename: "Book" } } },
    },
  ],
};
