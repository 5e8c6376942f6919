import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const boxes = [
  { lid: { code: "a" }, label: "first" },
  { lid: { code: "b" }, label: "second" },
  { lid: { code: "c" }, label: "third" },
];
const codes = [
  { code: "a", serial: 0 },
  { code: "b", serial: 2 },
];
const makers = [{ serial: 0, maker: { name: "Ada" } }];
const serialOf = (code: string) => codes.find((row) => row.code === code)?.serial;

/** A field is fetched over two keys; entities are missing after the first, and after the second. */
export const missingInBetween: SupergraphCase = {
  name: "missing-in-between",
  subgraphs: [
    {
      name: "boxes",
      typeDefs: `
        type Query { boxes: [Box] }
        type Box { lid: Lid label: String }
        type Lid @key(fields: "code") { code: ID! }
      `,
      resolvers: { Query: { boxes: () => boxes } },
    },
    {
      name: "serials",
      typeDefs: `type Lid @key(fields: "code") @key(fields: "serial") { code: ID! serial: Int! }`,
      resolvers: { Lid: { __resolveReference: findIn(codes, "code") } },
    },
    {
      name: "makers",
      typeDefs: `
        type Lid @key(fields: "serial") { serial: Int! maker: Maker }
        type Maker { name: String! }
      `,
      resolvers: { Lid: { __resolveReference: findIn(makers, "serial") } },
    },
  ],
  monolith: {
    Query: { boxes: () => boxes },
    Lid: {
      serial: ({ code }: { code: string }) => serialOf(code),
      maker: ({ code }: { code: string }) => makers.find(({ serial }) => serial === serialOf(code))?.maker,
    },
  },
  stockDiffers: { colliding: "an alias with the name of a key is taken for the key" },
  cases: [
    {
      name: "a field after a missing entity is null without an error, and the other fields are complete",
      query: "{ boxes { label lid { code maker { name } } } }",
      expected: {
        data: {
          boxes: [
            { label: "first", lid: { code: "a", maker: { name: "Ada" } } },
            { label: "second", lid: { code: "b", maker: null } },
            { label: "third", lid: { code: "c", maker: null } },
          ],
        },
      },
    },
    {
      name: "a missing non-null key has an error if the client selects it",
      query: "{ boxes { lid { serial } } }",
      expected: {
        data: { boxes: [{ lid: { serial: 0 } }, { lid: { serial: 2 } }, { lid: null }] },
        errors: [{ path: ["boxes", 2, "lid", "serial"], code: "NOT_FOUND" }],
      },
    },
  ],
};
