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

/** The way to a field leads over two keys; in between, and at its end, entities are missing. */
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
      name: "an entity that is missing on the way is null at its end, without an error, and the others are there",
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
      name: "a key on the way that may not be null has an error where the client asks for it",
      query: "{ boxes { lid { serial } } }",
      expected: {
        data: { boxes: [{ lid: { serial: 0 } }, { lid: { serial: 2 } }, { lid: null }] },
        errors: [{ path: ["boxes", 2, "lid", "serial"] }],
      },
    },
  ],
};
