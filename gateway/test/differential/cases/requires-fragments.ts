import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

interface Media {
  readonly minutes?: number;
  readonly pages?: number;
}
const items = [
  { id: "1", media: { __typename: "Film", title: "Heat", minutes: 170 } },
  { id: "2", media: { __typename: "Book", title: "Emma", pages: 474 } },
  { id: "3", media: null },
];
const ids = items.map(({ id }) => ({ id }));
const hours = ({ media }: { media: Media | null }) =>
  media === null ? null : media.minutes !== undefined ? media.minutes / 60 : (media.pages ?? -1) / 30;

/** `@requires` through fragments on a union. */
export const requiresFragments: SupergraphCase = {
  name: "requires-fragments",
  subgraphs: [
    {
      name: "items",
      typeDefs: `
        type Query { items: [Item] item(id: ID!): Item }
        type Item @key(fields: "id") { id: ID! media: Media }
        union Media = Film | Book
        type Film @shareable { title: String minutes: Int }
        type Book @shareable { title: String pages: Int }
      `,
      resolvers: {
        Query: { items: () => items, item: findByArguments(items, "id") },
        Item: { __resolveReference: findIn(items, "id") },
      },
    },
    {
      name: "times",
      typeDefs: `
        type Item @key(fields: "id") {
          id: ID! media: Media @external
          hours: Float @requires(fields: "media { ... on Film { minutes } ... on Book { pages } }")
        }
        union Media = Film | Book
        type Film @shareable { minutes: Int }
        type Book @shareable { pages: Int }
      `,
      resolvers: { Item: { __resolveReference: findIn(ids, "id"), hours } },
    },
  ],
  monolith: { Query: { items: () => items, item: findByArguments(items, "id") }, Item: { hours } },
  argumentValues: { id: ["1", "2", "3", "9"] },
  cases: [
    {
      name: "each member of the union is required by its own fields",
      query: '{ film: item(id: "1") { hours } book: item(id: "2") { hours } none: item(id: "3") { hours } }',
      expected: { data: { film: { hours: 170 / 60 }, book: { hours: 15.8 }, none: { hours: null } } },
    },
    {
      name: "the client's fragments and the required ones do not mix",
      query: '{ item(id: "2") { hours media { __typename ... on Book { title } ... on Film { minutes } } } }',
      expected: { data: { item: { hours: 15.8, media: { __typename: "Book", title: "Emma" } } } },
    },
    {
      name: "an alias within the required object that has a required field's name changes nothing",
      query: '{ item(id: "2") { hours media { ... on Book { pages: title } } } }',
      expected: { data: { item: { hours: 15.8, media: { pages: "Emma" } } } },
      stockIsWrong: "returns the required pages under the alias: null with INVALID_FIELD_VALUE",
    },
  ],
};
