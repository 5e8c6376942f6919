const wordsMax = 8;

/**
 * A PostgreSQL `tsquery` for texts that have, for each word of the search, a word that begins with it. At most eight words count.
 * Nothing of what the caller wrote but letters and digits comes through, so it is always well-formed.
 */
export function toWordPrefixQuery(search: string): string {
  const words = search.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .slice(0, wordsMax)
    .map((word) => `'${word}':*`)
    .join(" & ");
}
