// Search by the beginnings of words, for the list queries in a service's store.ts.
const wordsMax = 8;

/**
 * A PostgreSQL `tsquery` that matches texts which contain, for each word of the search, a word that starts with it. Words are separated by
 * spaces; the first eight are used. Each is quoted, so the query is always well-formed, and PostgreSQL splits it like the text: a search for
 * `covid-19`, `node.js` or `3.14` finds these words.
 */
export function toWordPrefixQuery(search: string): string {
  const words = search.trim().split(/\s+/);
  const prefixQueries = words.slice(0, wordsMax).map((word) => `${quoteWord(word)}:*`);
  return prefixQueries.join(" & ");
}

/** Doubles quotes and backslashes, which have a meaning in a quoted word of a `tsquery`. */
function quoteWord(word: string): string {
  const escaped = word.replaceAll(/['\\]/g, "$&$&");
  return `'${escaped}'`;
}

/**
 * The SQL condition that a text column matches a `toWordPrefixQuery`, ignoring case. The collation is explicit because the "C" locale folds
 * only ASCII; an index must use the same expression.
 */
export function matchesWords(column: string, placeholder: string): string {
  const fold = (text: string) => `lower(${text} collate pg_unicode_fast)`;
  return `to_tsvector('simple', ${fold(column)}) @@ to_tsquery('simple', ${fold(`${placeholder}::text`)})`;
}
