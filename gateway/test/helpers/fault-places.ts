import type { Library } from "./library.ts";

/** A fetch of the library that a test lets fail, and which data may be missing then. */
export interface FaultyFetch {
  readonly name: "a root fetch" | "an entity fetch" | "a sibling" | "a mutation" | "an entity fetch of a mutation";
  /** The subgraph with the fault. */
  readonly service: Exclude<keyof Library, "all" | "supergraphSdl" | "close">;
  readonly query: string;
  /** The data of a response without faults. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Paths that may be null because of the fault; `*` is any element. All other data must be complete. */
  readonly mayBeNull: readonly string[];
  /** The request must reach the subgraph once, however it fails. */
  readonly sentOnce?: true;
}

const book = (isbn: string, title: string) => ({
  isbn,
  title,
  stars: Number(isbn.slice(1)),
  review: { __typename: "Review", best: `Best of ${isbn}`, lines: [`Line of ${isbn}`, "End"] },
});

const books = [
  book("b1", "Engines"),
  book("b2", "Compilers"),
  book("b3", "Anonymous"),
  book("b4", "Engines II"),
] as const;
const ada = { name: "Ada" };
const titles = books.map(({ title }) => ({ title }));

export const faultyFetches: readonly FaultyFetch[] = [
  {
    name: "a root fetch",
    service: "people",
    query: "{ person(id: 1) { __typename name } people { name } books { title } }",
    data: {
      person: { __typename: "Person", name: "Ada" },
      people: [{ name: "Ada" }, { name: "Grace" }],
      books: titles,
    },
    mayBeNull: ["person", "people"],
  },
  {
    name: "an entity fetch",
    service: "ratings",
    query: "{ books { isbn title stars review { __typename best lines } } }",
    data: { books },
    mayBeNull: ["books.*.stars", "books.*.review"],
  },
  {
    name: "a sibling",
    service: "people",
    query: "{ books { title stars author { name } } }",
    data: {
      books: books.map(({ title, stars }, i) => ({ title, stars, author: [ada, { name: "Grace" }, null, ada][i] })),
    },
    mayBeNull: ["books.*.author"],
  },
  {
    name: "a mutation",
    service: "books",
    query: `mutation { addBook(title: "T") { __typename isbn author { books { title } } } rename(id: 1, name: "A") { name } }`,
    data: {
      addBook: { __typename: "Book", isbn: "b9", author: { books: [{ title: "Engines" }, { title: "Engines II" }] } },
      rename: { name: "A" },
    },
    mayBeNull: ["addBook", "addBook.author", "addBook.author.books", "addBook.author.books.*"],
    sentOnce: true,
  },
  {
    name: "an entity fetch of a mutation",
    service: "ratings",
    query: `mutation { addBook(title: "T") { title stars review { __typename best lines } } }`,
    data: { addBook: { title: "T", stars: 9, review: book("b9", "T").review } },
    mayBeNull: ["addBook.stars", "addBook.review"],
  },
];
