import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const media = [
  { __typename: "Book", id: "1", title: "Emma", pages: 474 },
  { __typename: "Film", id: "2", title: "Heat", minutes: 170 },
];
const reviews = [
  { id: "1", score: 9, reviews: [{ text: "Fine" }] },
  { id: "2", score: 0, reviews: [] },
];
const reviewed = (id: string) => reviews.find((row) => row.id === id);

/** An `@interfaceObject` that adds fields of its own to every type behind the interface. */
export const interfaceObject: SupergraphCase = {
  name: "interface-object",
  subgraphs: [
    {
      name: "media",
      typeDefs: `
        type Query { media: [Media!] medium(id: ID!): Media }
        interface Media @key(fields: "id") { id: ID! title: String }
        type Book implements Media @key(fields: "id") { id: ID! title: String pages: Int }
        type Film implements Media @key(fields: "id") { id: ID! title: String minutes: Int }
      `,
      resolvers: {
        Query: { media: () => media, medium: findByArguments(media, "id") },
        Media: { __resolveReference: ({ id }: { id: string }) => media.find((one) => one.id === id) },
        Book: { __resolveReference: findIn(media, "id") },
        Film: { __resolveReference: findIn(media, "id") },
      },
    },
    {
      name: "reviews",
      typeDefs: `
        type Query { best: Media worst: [Media] }
        type Media @key(fields: "id") @interfaceObject { id: ID! score: Int reviews: [Review!] }
        type Review { text: String }
      `,
      resolvers: {
        Query: { best: () => reviews[0], worst: () => [reviews[1], null] },
        Media: { __resolveReference: ({ id }: { id: string }) => reviewed(id) },
      },
    },
  ],
  monolith: {
    Query: {
      media: () => media,
      medium: findByArguments(media, "id"),
      best: () => media[0],
      worst: () => [media[1], null],
    },
    ...Object.fromEntries(
      ["Book", "Film"].map((type) => [
        type,
        {
          score: ({ id }: { id: string }) => reviewed(id)?.score,
          reviews: ({ id }: { id: string }) => reviewed(id)?.reviews,
        },
      ]),
    ),
  },
  argumentValues: { id: ["1", "2", "9"] },
  stockDiffers: {
    plain: "the interface object's __typename wins over the real one",
    colliding: "the interface object's __typename wins over the real one",
  },
  cases: [
    {
      name: "fields of the interface object are there on every type",
      query: "{ media { title score ... on Book { pages } ... on Film { reviews { text } } } }",
      expected: {
        data: {
          media: [
            { title: "Emma", score: 9, pages: 474 },
            { title: "Heat", score: 0, reviews: [] },
          ],
        },
      },
    },
    {
      name: "objects from the interface object have their real type",
      query: "{ best { __typename score } worst { __typename id } }",
      expected: {
        data: { best: { __typename: "Book", score: 9 }, worst: [{ __typename: "Film", id: "2" }, null] },
      },
    },
    {
      name: "fragments on real types apply to objects from the interface object",
      query: "{ best { ... on Film { minutes } ... on Book { kind: __typename pages } } }",
      expected: { data: { best: { kind: "Book", pages: 474 } } },
    },
    {
      name: "__typename of the interface object within a condition does not hide the real type",
      query: "{ worst { title ... on Film @skip(if: false) { __typename reviews { text } } } }",
      expected: { data: { worst: [{ title: "Heat", __typename: "Film", reviews: [] }, null] } },
      stockIsWrong: "the interface object's __typename wins, and all below the fragment is missing without an error",
    },
  ],
};
