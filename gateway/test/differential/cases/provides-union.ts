import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const books = [{ __typename: "Book", id: "b1", title: "Emma", pages: 474 }];
const films = [{ __typename: "Film", id: "f1", title: "Heat", minutes: 170 }];
const media = [
  { __typename: "Book", id: "b1", title: "Emma" },
  { __typename: "Film", id: "f1" },
];

/** `@provides` on a union, for one of its members only. */
export const providesUnion: SupergraphCase = {
  name: "provides-union",
  subgraphs: [
    {
      name: "lists",
      typeDefs: `
        type Query { media: [Media] @provides(fields: "... on Book { title }") }
        union Media = Book | Film
        type Book @key(fields: "id") { id: ID! title: String @external }
        type Film @key(fields: "id") { id: ID! }
      `,
      resolvers: { Query: { media: () => media } },
    },
    {
      name: "details",
      typeDefs: `
        type Book @key(fields: "id") { id: ID! title: String @shareable pages: Int }
        type Film @key(fields: "id") { id: ID! title: String @shareable minutes: Int }
      `,
      resolvers: {
        Book: { __resolveReference: findIn(books, "id") },
        Film: { __resolveReference: findIn(films, "id") },
      },
    },
  ],
  monolith: { Query: { media: () => [...books, ...films] } },
  cases: [
    {
      name: "the member that is provided and the member that is not both have their titles",
      query: "{ media { ... on Book { title } ... on Film { title } } }",
      expected: { data: { media: [{ title: "Emma" }, { title: "Heat" }] } },
    },
    {
      name: "provided and other fields of a member are one object",
      query: "{ media { __typename ... on Book { pages title } ... on Film { minutes id } } }",
      expected: {
        data: {
          media: [
            { __typename: "Book", pages: 474, title: "Emma" },
            { __typename: "Film", minutes: 170, id: "f1" },
          ],
        },
      },
    },
  ],
};
