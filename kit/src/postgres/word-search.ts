const wordsMax = 8;

/**
 * A PostgreSQL `tsquery` for texts that have, for each word of the search, a word that begins with it. Words are what stands between
 * spaces, and at most eight count. Each is quoted, so it is always well-formed, and PostgreSQL takes it apart as it took the text:
 * `covid-19`, `node.js` and `3.14` find themselves.
 */
export function toWordPrefixQuery(search: string): string {
  return search
    .trim()
    .split(/\s+/)
    .slice(0, wordsMax)
    .map((word) => `'${word.replaceAll(/['\\]/g, "$&$&")}':*`)
    .join(" & ");
}

/**
 * The condition that a text column has the words of a `toWordPrefixQuery`, in any capitals. What databases of the "C" locale would fold
 * is ASCII alone, so the folding is named here; an index over the same words has to spell it likewise.
 */
export function matchesWords(column: string, placeholder: string): string {
  const fold = (text: string) => `lower(${text} collate pg_unicode_fast)`;
  return `to_tsvector('simple', ${fold(column)}) @@ to_tsquery('simple', ${fold(`${placeholder}::text`)})`;
}
