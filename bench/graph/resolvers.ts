import {
  bookAt,
  countBorrowed,
  findBook,
  findPerson,
  isOnShelf,
  personAt,
  postageMinor,
  type ReviewRow,
  reviewsByPerson,
  reviewsOfBook,
} from "./data.ts";
import type { BenchmarkSubgraphName } from "./schemas.ts";

type FieldResolver = (parent: never, args: never) => unknown;
type ResolverMap = Readonly<Record<string, Readonly<Record<string, FieldResolver>>>>;

interface ListArguments {
  readonly skip: number;
  readonly first: number;
}

const toPerson = ({ personId }: ReviewRow) => findPerson(personId);
const toBook = ({ isbn }: ReviewRow) => findBook(isbn);

const fieldResolvers = {
  people: {
    Query: {
      people: (_: unknown, { skip, first }: ListArguments) =>
        Array.from({ length: first }, (_, i) => personAt(skip + i)),
    },
  },
  books: {
    Query: {
      books: (_: unknown, { skip, first }: ListArguments) => Array.from({ length: first }, (_, i) => bookAt(skip + i)),
      book: (_: unknown, { isbn }: { isbn: string }) => findBook(isbn),
    },
  },
  shelves: {
    Book: {
      onShelf: ({ isbn }: { isbn: string }) => isOnShelf(isbn),
      postageMinor: (book: { priceMinor: number; weightGrams: number }) =>
        postageMinor(book.priceMinor, book.weightGrams),
    },
    Person: { borrowed: ({ id }: { id: string }) => countBorrowed(id) },
  },
  reviews: {
    Review: { reader: toPerson, book: toBook },
    Person: { reviews: ({ id }: { id: string }, { first }: { first: number }) => reviewsByPerson(id, first) },
    Book: { reviews: ({ isbn }: { isbn: string }, { first }: { first: number }) => reviewsOfBook(isbn, first) },
  },
} satisfies Record<BenchmarkSubgraphName, ResolverMap>;

/** Reference resolvers per subgraph. Shelves and reviews store no entities and return the representation. */
const references: Readonly<Record<BenchmarkSubgraphName, ResolverMap>> = {
  people: { Person: { __resolveReference: ({ id }: { id: string }) => findPerson(id) } },
  books: { Book: { __resolveReference: ({ isbn }: { isbn: string }) => findBook(isbn) } },
  shelves: {
    Book: { __resolveReference: (book: object) => book },
    Person: { __resolveReference: (person: object) => person },
  },
  reviews: {
    Person: { __resolveReference: (person: object) => person },
    Book: { __resolveReference: (book: object) => book },
  },
};

/** One subgraph's resolvers, including its reference resolvers. */
export function getResolvers(name: BenchmarkSubgraphName): ResolverMap {
  return merge([fieldResolvers[name], references[name]]);
}

/** The field resolvers of all subgraphs, merged for one schema. Each row has all fields that any subgraph's resolvers read. */
export const monolithResolvers: ResolverMap = merge(Object.values<ResolverMap>(fieldResolvers));

function merge(maps: readonly ResolverMap[]): ResolverMap {
  const merged: Record<string, Record<string, FieldResolver>> = {};
  for (const [type, fields] of maps.flatMap((map) => Object.entries(map))) {
    merged[type] = { ...merged[type], ...fields };
  }
  return merged;
}
