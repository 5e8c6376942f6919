import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const novel = { __typename: "Novel", id: "n", title: "Emma", pages: 474, shelf: "A1" };
const opera = { __typename: "Opera", id: "o", title: "Aida", acts: 4 };
const play = { __typename: "Play", id: "p", title: "Faust", scenes: 0 };

/** A field that is a union in one subgraph and one of its members in the other, whose union has other members. */
export const unionOrMember: SupergraphCase = {
  name: "union-or-member",
  subgraphs: [
    {
      name: "library",
      typeDefs: `
        type Query { work: Work @shareable novel: Novel @shareable visit: Visit @shareable opera: Work }
        type Visit { work: Work @shareable novel: Novel @shareable }
        union Work = Novel | Opera
        type Novel @key(fields: "id") { id: ID! title: String @shareable shelf: String }
        type Opera @key(fields: "id") { id: ID! title: String @shareable acts: Int }
      `,
      resolvers: {
        Query: { work: () => novel, novel: () => novel, opera: () => opera, visit: () => ({ work: novel, novel }) },
        Novel: { __resolveReference: findIn([novel], "id") },
        Opera: { __resolveReference: findIn([opera], "id") },
      },
    },
    {
      name: "theatre",
      typeDefs: `
        type Query { work: Work @shareable novel: Work @shareable visit: Visit @shareable play: Work }
        type Visit { work: Work @shareable novel: Work @shareable }
        union Work = Novel | Play
        type Novel @key(fields: "id") { id: ID! title: String @shareable pages: Int }
        type Play @key(fields: "id") { id: ID! title: String @shareable scenes: Int }
      `,
      resolvers: {
        Query: { work: () => novel, novel: () => novel, play: () => play, visit: () => ({ work: novel, novel }) },
        Novel: { __resolveReference: findIn([novel], "id") },
        Play: { __resolveReference: findIn([play], "id") },
      },
    },
  ],
  monolith: {
    Query: {
      work: () => novel,
      novel: () => novel,
      opera: () => opera,
      play: () => play,
      visit: () => ({ work: novel, novel }),
    },
  },
  cases: [
    {
      name: "both are the union to clients, and either subgraph's fields are there",
      query: `{ novel { ...Whole } visit { work { ...Whole } novel { ... on Opera { acts } ...Whole } } }
        fragment Whole on Work { __typename ... on Novel { title shelf pages } ... on Play { scenes } }`,
      expected: {
        data: {
          novel: { __typename: "Novel", title: "Emma", shelf: "A1", pages: 474 },
          visit: {
            work: { __typename: "Novel", title: "Emma", shelf: "A1", pages: 474 },
            novel: { __typename: "Novel", title: "Emma", shelf: "A1", pages: 474 },
          },
        },
      },
    },
    {
      name: "a member that only the other subgraph has leaves an object empty",
      query:
        "{ work { ... on Play { scenes } } opera { ... on Opera { acts } ... on Play { scenes } } play { ... on Play { scenes } } }",
      expected: { data: { work: {}, opera: { acts: 4 }, play: { scenes: 0 } } },
    },
    {
      name: "the type is not fetched from a subgraph with one member, and the member's fields are present",
      query:
        "{ novel { ... on Novel { id } } visit { novel { ... on Novel { shelf title } ... on Play { scenes } } } }",
      stockIsWrong: "novel is an empty object, without an error",
      expected: { data: { novel: { id: "n" }, visit: { novel: { shelf: "A1", title: "Emma" } } } },
    },
  ],
};
