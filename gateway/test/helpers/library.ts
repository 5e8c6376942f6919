import { composeSupergraph, type RunningSubgraph, startSubgraph } from "./subgraphs.ts";

/** Three subgraphs: people (persons), books (books, and the books of a person), ratings (further fields of books). */
export interface Library {
  readonly people: RunningSubgraph;
  readonly books: RunningSubgraph;
  readonly ratings: RunningSubgraph;
  readonly all: readonly RunningSubgraph[];
  readonly supergraphSdl: string;
  close(): Promise<void>;
}

const ada = { id: "1", name: "Ada", email: "ada@example.org" };
const grace = { id: "2", name: "Grace", email: "grace@example.org" };

const books = [
  { isbn: "b1", title: "Engines", author: { id: "1" } },
  { isbn: "b2", title: "Compilers", author: { id: "2" } },
  { isbn: "b3", title: "Anonymous", author: null },
  { isbn: "b4", title: "Engines II", author: { id: "1" } },
];

const peopleDefs = `
  type Query { person(id: ID!): Person people: [Person!] whoAmI: String fails(with: String!): String list(first: Int!): [Int] }
  type Mutation { rename(id: ID!, name: String!): Person }
  type Person @key(fields: "id") { id: ID! name: String! email: String }
`;

const booksDefs = `
  type Query { book(isbn: ID!): Book books: [Book] }
  type Mutation { addBook(title: String!): Book }
  type Book @key(fields: "isbn") { isbn: ID! title: String author: Person }
  type Person @key(fields: "id") { id: ID! books: [Book] }
`;

const ratingsDefs = `
  type Query { bestBook: Book }
  type Book @key(fields: "isbn") { isbn: ID! stars: Int comments: [String!]! review: Review }
  type Review { best: String! lines: [String!]! }
`;

export async function startLibrary(): Promise<Library> {
  const all = await Promise.all([startPeople(), startBooks(), startRatings()]);
  const [peopleGraph, booksGraph, ratingsGraph] = all;
  return {
    people: peopleGraph,
    books: booksGraph,
    ratings: ratingsGraph,
    all,
    supergraphSdl: composeSupergraph(all),
    close: async () => void (await Promise.all(all.map((subgraph) => subgraph.close()))),
  };
}

function startPeople(): Promise<RunningSubgraph> {
  const find = (id: string) => [ada, grace].find((person) => person.id === id) ?? null;
  return startSubgraph({
    name: "people",
    typeDefs: peopleDefs,
    resolvers: {
      Query: {
        person: (_: unknown, { id }: { id: string }) => find(id),
        people: () => [ada, grace],
        whoAmI: (_: unknown, __: unknown, context: { headers: Record<string, string> }) =>
          context.headers["authorization"] ?? "anonymous",
        list: (_: unknown, { first }: { first: number }) => Array.from({ length: first }, (__, i) => i),
      },
      Mutation: { rename: (_: unknown, { id, name }: { id: string; name: string }) => ({ ...find(id), name }) },
      Person: { __resolveReference: ({ id }: { id: string }) => find(id) },
    },
  });
}

function startBooks(): Promise<RunningSubgraph> {
  const find = (isbn: string) => books.find((book) => book.isbn === isbn) ?? null;
  return startSubgraph({
    name: "books",
    typeDefs: booksDefs,
    resolvers: {
      Query: { book: (_: unknown, { isbn }: { isbn: string }) => find(isbn), books: () => books },
      Mutation: { addBook: (_: unknown, { title }: { title: string }) => ({ isbn: "b9", title, author: { id: "1" } }) },
      Book: { __resolveReference: ({ isbn }: { isbn: string }) => find(isbn) },
      Person: {
        __resolveReference: ({ id }: { id: string }) => ({ id }),
        books: ({ id }: { id: string }) => books.filter((book) => book.author?.id === id),
      },
    },
  });
}

export function startRatings(port = 0): Promise<RunningSubgraph> {
  return startSubgraph({
    port,
    name: "ratings",
    typeDefs: ratingsDefs,
    resolvers: {
      Query: { bestBook: () => ({ isbn: "b1" }) },
      Book: {
        __resolveReference: ({ isbn }: { isbn: string }) => ({ isbn }),
        stars: ({ isbn }: { isbn: string }) => Number(isbn.slice(1)),
        comments: () => ["good"],
        review: ({ isbn }: { isbn: string }) => ({ best: `Best of ${isbn}`, lines: [`Line of ${isbn}`, "End"] }),
      },
    },
  });
}
