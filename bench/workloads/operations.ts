/**
 * Some 90 KB and 16 fetches on stock: two ways from a root list through reviews to readers, their reviews, and books.
 * `postageMinor` has a `@requires` and stands only where Mercurius, too, has fetched what is required.
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

/** One field from one fetch: the least that a gateway is for. */
export const trivialOperation = '{ book(isbn: "978-7") { title } }';

/** Nothing to fetch: what a request costs by itself. */
export const typenameOperation = "{ __typename }";

/** Small operations with texts of their own: each asks under another alias for another part of another book. */
export function documentInTurn(index: number): string {
  const optional = ["title", "writer", "pages", "subtitle", "priceMinor", "weightGrams"];
  const chosen = optional.filter((_, bit) => ((index % 63) + 1) & (1 << bit));
  return /* GraphQL */ `
    query Document${index} {
      book(isbn: "978-${index % 1_200}") {
        isbn
        ${chosen.join(" ")}
        latest${index}: reviews(first: ${2 + (index % 5)}) { id text stars }
      }
    }
  `;
}

/** Heavy operations that nobody has asked before: other names and other fields, in the same depth. */
export function coldDocument(index: number): string {
  return heavyOperation
    .replace("query Heavy", `query Cold${index}`)
    .replaceAll("memberSince", `since${index}: memberSince`)
    .replaceAll("pages", index % 2 === 0 ? `length${index}: pages` : `weight${index}: weightGrams`)
    .replaceAll("reviews(first: 3)", `reviews(first: ${3 + (index % 2)})`);
}
