// Generated data, equal in every process and every run: each row is a function of its index.

const peopleCount = 400;
const booksCount = 1_200;
// Each person and each book has a range of this many reviews. The ranges are disjoint.
const reviewsMax = 100;
const firstReviewByPerson = 1_000_000;
const firstReviewOfBook = 2_000_000;

const words =
  "amber anchor birch candle canvas cellar cinder clover copper cradle current delta ember estuary fern ferry flint garden granite harbour hazel heather island juniper lantern ledger linen marsh meadow mill orchard paper pebble pepper quarry raven reed ridge river saddle salt shingle slate spring stone thistle timber valley willow winter".split(
    " ",
  );
const countries = ["Iceland", "Japan", "Kenya", "Norway", "Peru", "Portugal", "Switzerland", "Uruguay"];

export type ReviewRow = ReturnType<typeof reviewAt>;

export function personAt(index: number) {
  const n = index % peopleCount;
  return {
    id: `p${n}`,
    name: `${capitalize(word(n, 1))} ${capitalize(word(n, 2))}`,
    country: countries[n % countries.length] ?? "",
    memberSince: 1990 + (n % 35),
  };
}

export function bookAt(index: number) {
  const n = index % booksCount;
  return {
    isbn: `978-${n}`,
    title: `The ${capitalize(word(n, 3))} of ${capitalize(word(n, 4))}`,
    writer: `${capitalize(word(n, 5))} ${capitalize(word(n, 6))}`,
    pages: 80 + (n % 700),
    priceMinor: 500 + ((n * 37) % 4_000),
    weightGrams: 120 + ((n * 53) % 1_500),
    // Null for every third book, so that responses contain nulls.
    subtitle: n % 3 === 0 ? null : sentence(n, 5),
  };
}

function reviewAt(index: number) {
  return {
    id: `r${index}`,
    text: sentence(index, 9),
    stars: 1 + (index % 5),
    personId: `p${scatter(index, 7) % peopleCount}`,
    isbn: `978-${scatter(index, 8) % booksCount}`,
  };
}

export function findPerson(id: string) {
  const index = findPersonIndex(id);
  return index === undefined ? null : personAt(index);
}

export function findBook(isbn: string) {
  const index = findBookIndex(isbn);
  return index === undefined ? null : bookAt(index);
}

// The ids of the next functions are those of representations, which are known, so `?? 0` is only for the type.

/** The reviews of a person refer to pseudorandom books, those of a book to pseudorandom people. */
export function reviewsByPerson(id: string, first: number): readonly ReviewRow[] {
  const start = firstReviewByPerson + (findPersonIndex(id) ?? 0) * reviewsMax;
  return Array.from({ length: first }, (_, i) => ({ ...reviewAt(start + i), personId: id }));
}

export function reviewsOfBook(isbn: string, first: number): readonly ReviewRow[] {
  const start = firstReviewOfBook + (findBookIndex(isbn) ?? 0) * reviewsMax;
  return Array.from({ length: first }, (_, i) => ({ ...reviewAt(start + i), isbn }));
}

export function isOnShelf(isbn: string): boolean {
  return (findBookIndex(isbn) ?? 0) % 4 !== 0;
}

export function countBorrowed(personId: string): number {
  return (findPersonIndex(personId) ?? 0) % 7;
}

export function postageMinor(priceMinor: number, weightGrams: number): number {
  return priceMinor > 4_000 ? 0 : Math.ceil(weightGrams / 2);
}

function findPersonIndex(id: string): number | undefined {
  return findIndexInId(id, "p", peopleCount);
}

function findBookIndex(isbn: string): number | undefined {
  return findIndexInId(isbn, "978-", booksCount);
}

/** The index in an id; undefined for an unknown id. */
function findIndexInId(id: string, prefix: string, rowCount: number): number | undefined {
  if (!id.startsWith(prefix)) return undefined;
  const index = Number(id.slice(prefix.length));
  const isKnown = Number.isInteger(index) && index >= 0 && index < rowCount;
  return isKnown ? index : undefined;
}

function sentence(n: number, wordCount: number): string {
  const sentenceWords = Array.from({ length: wordCount }, (_, i) => word(n, 10 + i));
  return `${capitalize(sentenceWords.join(" "))}.`;
}

/** A word of row `n`. Each word of a row has another `salt`; 10 and more are those of sentences. */
function word(n: number, salt: number): string {
  return words[scatter(n, salt) % words.length] ?? "";
}

/** A reproducible pseudorandom number: Knuth's multiplicative hash, two rounds. */
function scatter(n: number, salt: number): number {
  let mixed = Math.imul(n + salt * 40_503 + 1, 2_654_435_761);
  mixed ^= mixed >>> 15;
  return Math.imul(mixed, 2_246_822_519) >>> 3;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
