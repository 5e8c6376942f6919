import { GraphQLError } from "graphql";
import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const media = [
  { __typename: "Book", id: "1", pages: 474, size: "A5", sequel: "2" },
  { __typename: "Film", id: "2", minutes: 170, size: null, sequel: "3" },
  { __typename: "Poster", id: "3", size: "A1", sequel: null },
];
const scores = [
  { id: "1", score: 9 },
  { id: "2", score: 0 },
  { id: "3", score: 4 },
];
const medium = (id: string | null) => media.find((one) => one.id === id) ?? null;
const sequel = (one: { readonly sequel: string | null }) => medium(one.sequel);
const gradeOf = (id: string) => {
  if (id === "2") throw new GraphQLError("Not graded.", { extensions: { code: "FORBIDDEN" } });
  return `${id}+`;
};
const kiosk = { __typename: "Kiosk", street: "High Street" };

/** Fragments on other interfaces and on unions, in objects from an `@interfaceObject`. */
export const interfaceObjectConditions: SupergraphCase = {
  name: "interface-object-conditions",
  subgraphs: [
    {
      name: "media",
      typeDefs: `
        type Query { media: [Media!] sold: [Sold!] }
        interface Node { id: ID! }
        interface Printed { size: String }
        interface Media implements Node @key(fields: "id") { id: ID! sequel: Media }
        type Book implements Node & Media & Printed @key(fields: "id") { id: ID! sequel: Media size: String pages: Int }
        type Film implements Node & Media @key(fields: "id") { id: ID! sequel: Media minutes: Int }
        type Poster implements Node & Media & Printed @key(fields: "id") { id: ID! sequel: Media size: String }
        type Kiosk { street: String }
        union Sold = Book | Film | Kiosk
      `,
      resolvers: {
        Query: { media: () => media, sold: () => [media[0], kiosk] },
        Media: { __resolveReference: ({ id }: { id: string }) => medium(id) },
        ...Object.fromEntries(
          ["Book", "Film", "Poster"].map((type) => [type, { __resolveReference: findIn(media, "id"), sequel }]),
        ),
      },
    },
    {
      name: "scores",
      typeDefs: `
        type Query { best: Media all: [Media] }
        type Media @key(fields: "id") @interfaceObject { id: ID! score: Int grade: String next: Media }
      `,
      resolvers: {
        Query: { best: () => scores[0], all: () => [...scores, null] },
        Media: {
          __resolveReference: findIn(scores, "id"),
          grade: ({ id }: { id: string }) => gradeOf(id),
          next: ({ id }: { id: string }) => scores[Number(id)] ?? null,
        },
      },
    },
  ],
  monolith: {
    Query: {
      media: () => media,
      sold: () => [media[0], kiosk],
      best: () => media[0],
      all: () => [...media, null],
    },
    ...Object.fromEntries(
      ["Book", "Film", "Poster"].map((type) => [
        type,
        {
          sequel,
          grade: ({ id }: { id: string }) => gradeOf(id),
          score: ({ id }: { id: string }) => scores.find((one) => one.id === id)?.score,
          next: ({ id }: { id: string }) => media[Number(id)] ?? null,
        },
      ]),
    ),
  },
  cases: [
    {
      name: "a fragment on an interface of the interface applies to all objects",
      query: "{ best { ... on Node { id __typename } } all { ... on Node { id } } }",
      expected: {
        data: { best: { id: "1", __typename: "Book" }, all: [{ id: "1" }, { id: "2" }, { id: "3" }, null] },
      },
      stockIsWrong: "it cannot plan it",
    },
    {
      name: "a fragment on another interface applies to the objects of its types",
      query: "{ all { score ... on Printed { size } next { ... on Printed { size } } } }",
      expected: {
        data: {
          all: [
            { score: 9, size: "A5", next: {} },
            { score: 0, next: { size: "A1" } },
            { score: 4, size: "A1", next: null },
            null,
          ],
        },
      },
      stockIsWrong: "it cannot plan it",
    },
    {
      name: "a fragment on a union applies to the objects of its members, with what is selected within it",
      query:
        "{ all { ... on Sold { __typename ... on Printed { size } ... on Film { minutes } ... on Kiosk { street } } } sold { ... on Media { score } } }",
      expected: {
        data: {
          all: [{ __typename: "Book", size: "A5" }, { __typename: "Film", minutes: 170 }, {}, null],
          sold: [{ score: 9 }, {}],
        },
      },
      stockIsWrong: "it cannot plan it",
    },
    {
      name: "an error is only where the field is selected",
      query:
        "{ media { score ... on Book { grade } ... on Film { rank: grade } ... on Poster { grade } } all { ... on Book { grade } ... on Poster { score } } }",
      expected: {
        data: {
          media: [
            { score: 9, grade: "1+" },
            { score: 0, rank: null },
            { score: 4, grade: "3+" },
          ],
          all: [{ grade: "1+" }, {}, { score: 4 }, null],
        },
        errors: [{ path: ["media", 1, "rank"], code: "FORBIDDEN" }],
      },
    },
  ],
};
