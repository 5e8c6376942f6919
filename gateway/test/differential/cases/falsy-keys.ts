import { type SupergraphCase, findByArguments, findIn } from "../supergraph-case.ts";

const rows = [
  { number: 0, code: "", open: false, name: "zero" },
  { number: 1, code: "x", open: true, name: "one" },
];
const extras = [
  { number: 0, code: "", open: false, extra: "nothing" },
  { number: 1, code: "x", open: true, extra: "something" },
];
const doubled = ({ count }: { count: number | null }) => (count === null ? null : count * 2 + 1);
const countOf = ({ number }: { number: number }) => (number === 0 ? 0 : null);

/** Keys and required fields that are 0, "" and false, and nulls that are said, not missing. */
export const falsyKeys: SupergraphCase = {
  name: "falsy-keys",
  subgraphs: [
    {
      name: "rows",
      typeDefs: `
        type Query { rows: [Row!] row(number: Int!): Row }
        type Row @key(fields: "number code open") {
          number: Int! code: String! open: Boolean! name: String count: Int note(text: String = "none"): String
        }
      `,
      resolvers: {
        Query: { rows: () => rows, row: findByArguments(rows, "number") },
        Row: {
          __resolveReference: findIn(rows, "number", "code", "open"),
          count: countOf,
          note: (_: unknown, { text }: { text: string | null }) => text,
        },
      },
    },
    {
      name: "extras",
      typeDefs: `
        type Row @key(fields: "number code open") {
          number: Int! code: String! open: Boolean! count: Int @external
          extra: String doubled: Int @requires(fields: "count")
        }
      `,
      resolvers: { Row: { __resolveReference: findIn(extras, "number", "code", "open"), doubled } },
    },
  ],
  monolith: {
    Query: { rows: () => rows, row: findByArguments(rows, "number") },
    Row: {
      count: countOf,
      note: (_, { text }: { text: string | null }) => text,
      extra: ({ number }: { number: number }) => extras[number]?.extra,
      doubled: (row: { number: number }) => doubled({ count: countOf(row) }),
    },
  },
  argumentValues: { number: [0, 1, 2] },
  stockDiffers: { colliding: "an alias with the name of a key or required field is taken for that field" },
  cases: [
    {
      name: "0, the empty text and false are keys",
      query: "{ rows { extra } row(number: 0) { extra open number code } }",
      expected: {
        data: {
          rows: [{ extra: "nothing" }, { extra: "something" }],
          row: { extra: "nothing", open: false, number: 0, code: "" },
        },
      },
    },
    {
      name: "a required field that is 0 or null is sent as it is",
      query: "{ rows { doubled } }",
      expected: { data: { rows: [{ doubled: 1 }, { doubled: null }] } },
    },
    {
      name: "an explicit null is not the default",
      query: "query ($t: String) { row(number: 0) { a: note b: note(text: null) c: note(text: $t) } }",
      variables: { t: null },
      expected: { data: { row: { a: "none", b: null, c: null } } },
    },
    {
      name: "falsy values under the names of other keys change nothing",
      query: "{ row(number: 0) { number: code code: open open: number extra } }",
      expected: { data: { row: { number: "", code: false, open: 0, extra: "nothing" } } },
      stockIsWrong: "the whole row is null with INVALID_FIELD_VALUE",
    },
  ],
};
