import type { Rule } from "../repository.ts";
import { isProductCode } from "../repository.ts";

/** Nouns of the domain without another meaning in infrastructure code. */
const domainWords = new Set(
  `users posts comments orders products product article articles author authors avatar catalogue checkout customer customers
   invoice invoices newsletter payment payments shipment sku stock`.split(/\s+/),
);
/** Nouns that are also technical terms (POST, order by, comment, the user of a token). As a type or before Id they are domain words. */
const ambiguousWords = ["user", "post", "comment", "order"];
/** An identity is of kind "user" and has a user id: terms of authentication, not of the domain. */
const allowedNames = new Set(["userId", "userIds", "UserId", "USER_ID_CLAIM", "userIdClaim"]);
/** The published list of error codes is one for all services. */
const allowedTexts = new Set(["OUT_OF_STOCK"]);
const allowedTypes: Readonly<Record<string, string>> = { "kit/src/identity/tokens.ts": "User" };

/** The kit and the gateway serve any domain. */
export const domainRules: readonly Rule[] = [
  {
    name: "no-domain-words-in-the-kit",
    sentence: "The kit and the gateway contain no domain word: they serve any graph.",
    find: ({ modules }) =>
      modules
        .filter(({ path }) => /^(?:kit|gateway)\//.test(path) && isProductCode(path))
        .flatMap(({ path, names, texts }) =>
          [...names, ...texts]
            .filter(({ text }) => hasDomainWord(text) && text !== allowedTypes[path])
            .map(({ text, line }) => ({ path, line, found: `contains ${JSON.stringify(text.slice(0, 60))}` })),
        ),
  },
];

function hasDomainWord(text: string): boolean {
  if (allowedNames.has(text) || allowedTexts.has(text)) return false;
  if (wordsOf(text).some((word) => domainWords.has(word))) return true;
  return ambiguousWords.some((word) => {
    const type = word.charAt(0).toUpperCase() + word.slice(1);
    return text === type || new RegExp(`^(?:${word}|.*${type})Ids?$`).test(text);
  });
}

/** "createOrderLines" → create, order, lines; "orders:read" → orders, read. */
function wordsOf(text: string): string[] {
  const spaced = text.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return spaced.toLowerCase().split(/[^a-z]+/);
}
