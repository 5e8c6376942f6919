// The schema of the subgraph of overload (item-upstream.ts).

/** Fields of Query, by priority. The stub searches the request body for them, so no name contains another one in the same case. */
export const itemFields = { normal: "items", critical: "urgentItems", background: "backgroundItems" } as const;

export const itemTypeDefs = `
  extend schema
    @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@composeDirective"])
    @link(url: "https://specs.tributary.example/priority/v1.0", import: ["@priority"])
    @composeDirective(name: "@priority")
  directive @priority(class: String!) on FIELD_DEFINITION
  type Query {
    items(skip: Int): [Item!]!
    urgentItems(skip: Int): [Item!]! @priority(class: "critical")
    backgroundItems(skip: Int): [Item!]! @priority(class: "background")
  }
  type Item { id: ID! name: String! price: Int! tags: [String!]! }
`;
