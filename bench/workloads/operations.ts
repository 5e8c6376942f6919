/**
 * Some 90 KB, and 16 fetches in the plan of the contender `stock`: two root lists, each with nested reviews, readers and books.
 * `postageMinor` has a `@requires`. It is selected only where Mercurius has fetched the required fields too.
 */
export const heavyOperation = /* GraphQL */ `
  query Heavy($skip: Int!) {
    people(skip: $skip, first: 6) {
      ...Reader
      memberSince
      reviews(first: 3) {
        ...Review
        book {
          ...Book
          reviews(first: 3) {
            ...Review
            reader {
              ...Reader
              reviews(first: 3) {
                ...Review
                book {
                  ...Book
                }
              }
            }
          }
        }
      }
    }
    books(skip: $skip, first: 9) {
      ...Book
      postageMinor
      reviews(first: 4) {
        ...Review
        reader {
          ...Reader
          reviews(first: 3) {
            ...Review
            book {
              ...Book
            }
          }
        }
      }
    }
  }
  fragment Reader on Person {
    id
    name
    country
    borrowed
  }
  fragment Review on Review {
    id
    text
    stars
  }
  fragment Book on Book {
    isbn
    title
    writer
    subtitle
    pages
    onShelf
  }
`;

/** Some 1 KB and 2 fetches. */
export const smallOperation = /* GraphQL */ `
  query Small($isbn: ID!) {
    book(isbn: $isbn) {
      isbn
      title
      writer
      pages
      subtitle
      reviews(first: 9) {
        id
        text
        stars
      }
    }
  }
`;

/** Some 30 KB and 5 fetches, all from subgraphs whose data is for everyone. */
export const shopOperation = /* GraphQL */ `
  query Shop($skip: Int!) {
    books(skip: $skip, first: 9) {
      isbn
      title
      writer
      subtitle
      pages
      onShelf
      postageMinor
      reviews(first: 4) {
        id
        text
        stars
        reader {
          id
          borrowed
          reviews(first: 3) {
            id
            stars
            book {
              isbn
              title
              onShelf
            }
          }
        }
      }
    }
  }
`;

/** Of `shopOperation`, for the contender with registered documents. */
export const shopDocumentId = "shop-1";

/** Some 5 KB and 4 fetches: the people are for the caller alone, their reviews and the books for everyone. */
export const circleOperation = /* GraphQL */ `
  query Circle($skip: Int!) {
    people(skip: $skip, first: 6) {
      id
      name
      reviews(first: 3) {
        id
        text
        stars
        book {
          isbn
          title
          writer
          onShelf
        }
      }
    }
  }
`;

/** One field, one fetch. */
export const trivialOperation = '{ book(isbn: "978-7") { title } }';

/** No fetch: measures the cost of a request alone. */
export const typenameOperation = "{ __typename }";

/** Small operations with different texts: each selects other fields of another book under another alias. */
export function createDocument(index: number): string {
  const optionalFields = ["title", "writer", "pages", "subtitle", "priceMinor", "weightGrams"];
  // From 1 to 63: one bit for each field, and at least one bit is set.
  const selection = 1 + (index % 63);
  const selectedFields = optionalFields.filter((_, bit) => selection & (1 << bit));
  return /* GraphQL */ `
    query Document${index} {
      book(isbn: "978-${index % 1_200}") {
        isbn
        ${selectedFields.join(" ")}
        latest${index}: reviews(first: ${2 + (index % 5)}) { id text stars }
      }
    }
  `;
}

/** Heavy operations with different texts: other names, aliases and fields in the same depth. */
export function createColdDocument(index: number): string {
  const pagesReplacement = index % 2 === 0 ? `length${index}: pages` : `weight${index}: weightGrams`;
  return heavyOperation
    .replace("query Heavy", `query Cold${index}`)
    .replaceAll("memberSince", `since${index}: memberSince`)
    .replaceAll("pages", pagesReplacement)
    .replaceAll("reviews(first: 3)", `reviews(first: ${3 + (index % 2)})`);
}
