import type { SupergraphCase } from "../supergraph-case.ts";

const version = () => "7";
const settings = { theme: "dark", limits: { rows: 0, columns: 5 } };

/** Root fields and plain objects that several subgraphs resolve, each with further fields. */
export const shareableRoots: SupergraphCase = {
  name: "shareable-roots",
  subgraphs: [
    {
      name: "one",
      typeDefs: `
        type Query { version: String @shareable settings: Settings @shareable one: Int }
        type Settings @shareable { theme: String limits: Limits }
        type Limits @shareable { rows: Int }
      `,
      resolvers: {
        Query: { version, settings: () => ({ theme: "dark", limits: { rows: 0 } }), one: () => 1 },
      },
    },
    {
      name: "two",
      typeDefs: `
        type Query { version: String @shareable settings: Settings @shareable two: Int }
        type Settings @shareable { theme: String limits: Limits }
        type Limits @shareable { rows: Int columns: Int }
      `,
      resolvers: { Query: { version, settings: () => settings, two: () => 2 } },
    },
  ],
  monolith: { Query: { version, settings: () => settings, one: () => 1, two: () => 2 } },
  cases: [
    {
      name: "a root field that two subgraphs have is fetched once",
      query: "{ one version two }",
      expected: { data: { one: 1, version: "7", two: 2 } },
    },
    {
      name: "the parts of an object from two subgraphs are one object",
      query: "{ settings { limits { columns rows } theme } one }",
      expected: { data: { settings: { limits: { columns: 5, rows: 0 }, theme: "dark" }, one: 1 } },
    },
    {
      name: "an alias with a sibling's name changes nothing",
      query: "{ settings { limits { rows: columns columns: rows } } }",
      expected: { data: { settings: { limits: { rows: 5, columns: 0 } } } },
    },
  ],
};
