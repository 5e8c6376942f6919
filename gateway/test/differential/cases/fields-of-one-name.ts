import { type SupergraphCase, findIn } from "../supergraph-case.ts";

const tools = [
  { __typename: "Hammer", id: "h", weight: 2, handle: { __typename: "Wood", age: 30 } },
  { __typename: "Laser", id: "l", weight: "light", handle: { __typename: "Steel", age: "new" } },
];
const sold = [{ id: "h" }];
const alike = () => tools;

/** Members of a union with fields that have one name and other types, over and over: they cannot stand in one selection. */
export const fieldsOfOneName: SupergraphCase = {
  name: "fields-of-one-name",
  subgraphs: [
    {
      name: "sales",
      typeDefs: `
        type Query { sold: [Hammer!]! }
        type Hammer { id: ID @shareable }
      `,
      resolvers: { Query: { sold: () => sold } },
    },
    {
      name: "tools",
      typeDefs: `
        type Query { tools: [Tool!] }
        union Tool = Hammer | Laser
        type Hammer @key(fields: "id") { id: ID! weight: Int handle: Handle alike: [Tool!]! }
        type Laser { id: ID weight: String! handle: Handle! alike: [Tool!]! }
        union Handle = Wood | Steel
        type Wood { age: Int! }
        type Steel { age: String }
      `,
      resolvers: {
        Query: { tools: () => tools },
        Hammer: { __resolveReference: findIn(tools, "id"), alike },
        Laser: { alike },
      },
    },
  ],
  monolith: { Query: { tools: () => tools, sold: () => [tools[0]] }, Hammer: { alike }, Laser: { alike } },
  cases: [
    {
      name: "a field that may be null in one member and not in the other is each member's own",
      query: "{ tools { ... on Hammer { id } ... on Laser { id } } }",
      expected: { data: { tools: [{ id: "h" }, { id: "l" }] } },
    },
    {
      name: "below further members as well",
      query: `{ tools { ...Ids ... on Hammer { alike { ...Ids ... on Laser { alike { ...Ids } } } } ... on Laser { alike { ...Ids } } } }
        fragment Ids on Tool { ... on Hammer { id } ... on Laser { id } }`,
      expected: {
        data: {
          tools: [
            { id: "h", alike: [{ id: "h" }, { id: "l", alike: [{ id: "h" }, { id: "l" }] }] },
            { id: "l", alike: [{ id: "h" }, { id: "l" }] },
          ],
        },
      },
    },
    {
      name: "under other names, fields of other types stand side by side",
      query: `{ tools { ... on Hammer { kilos: weight handle { ... on Wood { years: age } } } ... on Laser { id text: weight } }
        sold { id weight } }`,
      expected: {
        data: {
          tools: [
            { kilos: 2, handle: { years: 30 } },
            { id: "l", text: "light" },
          ],
          sold: [{ id: "h", weight: 2 }],
        },
      },
    },
  ],
};
