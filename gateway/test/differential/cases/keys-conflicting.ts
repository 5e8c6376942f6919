import { type SupergraphCase, findIn } from "../supergraph-case.ts";

interface Item {
  readonly __typename: string;
  readonly id?: string | number;
}

const items: readonly Item[] = [
  { __typename: "Post", id: "p1" },
  { __typename: "Ad", id: "a1" },
  { __typename: "Note", id: 7 },
  { __typename: "Memo", id: "m1" },
];
const banners = [
  { __typename: "Banner", code: "b1" },
  { __typename: "Post", id: "p1" },
];
const titleOf = ({ id }: Item) => `Title of ${id}`;
const numberOf = ({ code }: { code: string }) => code.length;

/** Entity types of one fetch whose keys have the same name and different types, or the name of another type's selected field. */
export const keysConflicting: SupergraphCase = {
  name: "keys-conflicting",
  subgraphs: [
    {
      name: "feed",
      typeDefs: `
        type Query { feed: [Item!] banners: [Shown!] }
        union Item = Post | Ad | Note | Memo
        union Shown = Banner | Post
        type Post @key(fields: "id") { id: ID! }
        type Ad @key(fields: "id") { id: ID }
        type Note @key(fields: "id") { id: Int! }
        type Memo @key(fields: "id") { id: String! }
        type Banner @key(fields: "code") { code: ID! }
      `,
      resolvers: { Query: { feed: () => items, banners: () => banners } },
    },
    {
      name: "texts",
      typeDefs: `
        type Post @key(fields: "id") { id: ID! title: String }
        type Ad @key(fields: "id") { id: ID title: String }
        type Note @key(fields: "id") { id: Int! title: String }
        type Memo @key(fields: "id") { id: String! title: String }
        type Banner @key(fields: "code") { code: ID! id: Int }
      `,
      resolvers: {
        Post: { __resolveReference: findIn(items, "id"), title: titleOf },
        Ad: { __resolveReference: findIn(items, "id"), title: titleOf },
        Note: { __resolveReference: findIn(items, "id"), title: titleOf },
        Memo: { __resolveReference: findIn(items, "id"), title: titleOf },
        Banner: { __resolveReference: findIn(banners, "code"), id: numberOf },
      },
    },
  ],
  monolith: {
    Query: { feed: () => items, banners: () => banners },
    Post: { title: titleOf },
    Ad: { title: titleOf },
    Note: { title: titleOf },
    Memo: { title: titleOf },
    Banner: { id: numberOf },
  },
  cases: [
    {
      name: "a key of one name may have another type in each entity type",
      query: "{ feed { ... on Post { title } ... on Ad { title } ... on Note { title } ... on Memo { title } } }",
      expected: { data: { feed: items.map((item) => ({ title: titleOf(item) })) } },
    },
    {
      name: "a key may have the name of a field of another type that is selected in the same fetch",
      query: "{ banners { ... on Banner { id } ... on Post { title } } }",
      expected: { data: { banners: [{ id: 2 }, { title: "Title of p1" }] } },
    },
    {
      name: "entity fetches with conflicting keys are sent in one request",
      query:
        "{ feed { ... on Post { title } ... on Ad { title } } banners { ... on Banner { id } ... on Post { title } } }",
      expected: {
        data: {
          feed: [{ title: "Title of p1" }, { title: "Title of a1" }, {}, {}],
          banners: [{ id: 2 }, { title: "Title of p1" }],
        },
      },
    },
  ],
};
