import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const things = [{ id: "1" }, { id: "2" }];

type Given = Readonly<Record<string, unknown>>;

const thing = (_: unknown, { id }: Given) => findIn(things, "id")({ id });
const many = (_: unknown, { ids }: Given) =>
  Array.isArray(ids) ? ids.map((id) => findIn(things, "id")({ id })) : null;
const echo = (_: unknown, { of }: Given) => of;
const tell = (_: unknown, given: Given) => JSON.stringify(given);

const echoes = {
  text: (_: unknown, { text }: Given) => text,
  number: echo,
  whole: echo,
  ids: echo,
  matrix: echo,
  json: tell,
  filter: tell,
  colors: echo,
};

/** Values of arguments in every form: they come to the subgraph as the client wrote them. */
export const argumentValues: SupergraphCase = {
  name: "argument-values",
  subgraphs: [
    {
      name: "things",
      typeDefs: `
        type Query { thing(id: ID! = "1"): Thing many(ids: [ID!]): [Thing] }
        type Thing @key(fields: "id") { id: ID! }
      `,
      resolvers: { Query: { thing, many } },
    },
    {
      name: "echoes",
      typeDefs: `
        scalar JSON
        enum Color { RED GREEN }
        input Filter { text: String = "def" at: Float color: Color = RED all: [Int!]! = [1] more: [Filter!] json: JSON }
        type Thing @key(fields: "id") {
          id: ID! text(text: String = "none"): String number(of: Float): Float whole(of: Int! = 7): Int ids(of: [ID]): [ID]
          matrix(of: [[Int]] = [[1], null]): [[Int]] json(json: JSON): String filter(by: Filter = { text: "d" }): String
          colors(of: [Color!] = [GREEN]): [Color!]
        }
      `,
      resolvers: { Thing: { __resolveReference: ({ id }: Given) => ({ id }), ...echoes } },
    },
  ],
  monolith: { Query: { thing, many }, Thing: echoes },
  argumentValues: {
    id: ["1", "2", "9"],
    ids: ["1", "2"],
    text: ["", "a", 'quo"te \\ back', "line\nbreak\ttab", "é 😀 \u2028", "$v0 { } #"],
    json: [1, "a", null, true, [], {}, { a: 1, b: [null, "x", { c: -0.5 }] }, { constructor: 2 }, [[1], [2]]],
    at: [1, -1.5, 1e21, 1e-7],
  },
  cases: [
    {
      name: "variables within values of a scalar that can be anything are sent",
      query:
        'query ($a: Int, $b: [String!] = []) { thing { json(json: { a: $a, list: [$b, { c: $a }], text: "$a" }) } }',
      variables: { a: 7 },
      expected: { data: { thing: { json: '{"json":{"a":7,"list":[[],{"c":7}],"text":"$a"}}' } } },
    },
    {
      name: "one value stands for a list of one, and a whole number for a fraction or an id",
      query:
        "query ($ids: [ID!]) { many(ids: 1) { ids(of: 2) number(of: 3) matrix(of: 4) colors(of: RED) } all: many(ids: $ids) { id } thing(id: 1) { id } }",
      variables: { ids: 2 },
      expected: {
        data: {
          many: [{ ids: ["2"], number: 3, matrix: [[4]], colors: ["RED"] }],
          all: [{ id: "2" }],
          thing: { id: "1" },
        },
      },
    },
    {
      name: "texts come as they were written",
      query:
        '{ thing { a: text(text: "quo\\"te \\\\ \\u00e9 \\n") b: text(text: """two\n  lines \\""" """) c: text(text: "") d: text(text: null) e: text } }',
      expected: {
        data: { thing: { a: 'quo"te \\ é \n', b: 'two\nlines """ ', c: "", d: null, e: "none" } },
      },
    },
    {
      name: "defaults of an input's fields are the subgraph's to apply, a null is not one",
      query:
        "query ($f: Filter) { thing { a: filter b: filter(by: {}) c: filter(by: { text: null, all: 2 }) d: filter(by: $f) } }",
      variables: { f: { color: "GREEN" } },
      expected: {
        data: {
          thing: {
            a: '{"by":{"text":"d","color":"RED","all":[1]}}',
            b: '{"by":{"text":"def","color":"RED","all":[1]}}',
            c: '{"by":{"text":null,"color":"RED","all":[2]}}',
            d: '{"by":{"text":"def","color":"GREEN","all":[1]}}',
          },
        },
      },
    },
  ],
};
