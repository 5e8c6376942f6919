/**
 * The benchmark's four subgraphs. They use federation 1, because Mercurius supports no other version; composition upgrades
 * them to federation 2 for the other contenders.
 */
export const subgraphSdl = {
  people: /* GraphQL */ `
    extend type Query {
      people(skip: Int!, first: Int!): [Person!]!
    }
    type Person @key(fields: "id") {
      id: ID!
      name: String!
      country: String!
      memberSince: Int!
    }
  `,
  books: /* GraphQL */ `
    extend type Query {
      books(skip: Int!, first: Int!): [Book!]!
      book(isbn: ID!): Book
    }
    type Book @key(fields: "isbn") {
      isbn: ID!
      title: String!
      writer: String!
      pages: Int!
      priceMinor: Int!
      weightGrams: Int!
      subtitle: String
    }
  `,
  shelves: /* GraphQL */ `
    extend type Book @key(fields: "isbn") {
      isbn: ID! @external
      priceMinor: Int! @external
      weightGrams: Int! @external
      postageMinor: Int! @requires(fields: "priceMinor weightGrams")
      onShelf: Boolean!
    }
    extend type Person @key(fields: "id") {
      id: ID! @external
      borrowed: Int!
    }
  `,
  reviews: /* GraphQL */ `
    type Review @key(fields: "id") {
      id: ID!
      text: String!
      stars: Int!
      reader: Person!
      book: Book!
    }
    extend type Person @key(fields: "id") {
      id: ID! @external
      reviews(first: Int!): [Review!]!
    }
    extend type Book @key(fields: "isbn") {
      isbn: ID! @external
      reviews(first: Int!): [Review!]!
    }
  `,
} as const;

export type BenchmarkSubgraphName = keyof typeof subgraphSdl;

export const subgraphNames = Object.keys(subgraphSdl) as readonly BenchmarkSubgraphName[];

export type SubgraphUrls = Readonly<Record<BenchmarkSubgraphName, string>>;

/** Milliseconds by which a subgraph delays its responses; none if it is not listed. */
export type SubgraphLatencies = Readonly<Partial<Record<BenchmarkSubgraphName, number>>>;
