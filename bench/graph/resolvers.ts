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

/** Shelves and reviews store no entities: their reference resolvers return the representation. */
const toItself = (representation: unknown) => representation;

/** The resolvers of each subgraph. */
export const subgraphResolvers = {
  people: {
    Query: {
      people: (_: unknown, { skip, first }: ListArguments) =>
        Array.from({ length: first }, (_, i) => personAt(skip + i)),
    },
    Person: { __resolveReference: ({ id }: { id: string }) => findPerson(id) },
  },
  books: {
    Query: {
      books: (_: unknown, { skip, first }: ListArguments) => Array.from({ length: first }, (_, i) => bookAt(skip + i)),
      book: (_: unknown, { isbn }: { isbn: string }) => findBook(isbn),
    },
    Book: { __resolveReference: ({ isbn }: { isbn: string }) => findBook(isbn) },
  },
  shelves: {
    Book: {
      __resolveReference: toItself,
      onShelf: ({ isbn }: { isbn: string }) => isOnShelf(isbn),
      postageMinor: (book: { priceMinor: number; weightGrams: number }) =>
        postageMinor(book.priceMinor, book.weightGrams),
    },
    Person: { __resolveReference: toItself, borrowed: ({ id }: { id: string }) => countBorrowed(id) },
  },
  reviews: {
    Review: { reader: toPerson, book: toBook },
    Person: {
      __resolveReference: toItself,
      reviews: ({ id }: { id: string }, { first }: { first: number }) => reviewsByPerson(id, first),
    },
    Book: {
      __resolveReference: toItself,
      reviews: ({ isbn }: { isbn: string }, { first }: { first: number }) => reviewsOfBook(isbn, first),
    },
  },
} satisfies Record<BenchmarkSubgraphName, ResolverMap>;

/** Finds a field's resolver in any subgraph, for the one schema of reference-executor.ts: each row has all fields that any resolver reads. */
export function findResolver(type: string, field: string): FieldResolver | undefined {
  const resolverMaps: readonly ResolverMap[] = Object.values(subgraphResolvers);
  return resolverMaps.map((resolvers) => resolvers[type]?.[field]).find((resolver) => resolver !== undefined);
}
