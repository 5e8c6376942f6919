/** The schema of the ledger subgraph, which each replica serves. */
export const ledgerDefs = `
  type Query { entry(id: ID!): Entry }
  type Mutation { add(id: ID!): Entry }
  type Entry @key(fields: "id") { id: ID! amount: Int }
`;

/** Another subgraph, which contains only the keys of entries. */
export const shelfDefs = `
  type Query { shelf(id: ID!): Shelf }
  type Shelf { entry: Entry }
  type Entry @key(fields: "id", resolvable: false) { id: ID! }
`;
