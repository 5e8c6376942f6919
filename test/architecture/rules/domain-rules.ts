import type { Rule } from "../house.ts";
import { isProductCode } from "../house.ts";

/** Nouns of our domain that mean nothing else in a toolbox. */
const domainWords = new Set(
  `users posts comments orders products product article articles author authors avatar catalogue checkout customer customers
   invoice invoices newsletter payment payments shipment sku stock`.split(/\s+/),
);
/** Nouns that are also verbs or words of the field (POST, order by, comment, the user of a token): ours as a type or before Id. */
const ambiguousWords = ["user", "post", "comment", "order"];
/** Who calls is an identity of kind "user", and its id is a user id: that is the design's word for it, not the domain's. */
const allowedNames = new Set(["userId", "userIds", "UserId", "USER_ID_CLAIM", "userIdClaim"]);
/** One published list of codes serves both doors, so it holds those of every service. */
const allowedTexts = new Set(["OUT_OF_STOCK"]);
const allowedTypes: Readonly<Record<string, string>> = { "kit/src/identity/tokens.ts": "User" };

/** The toolbox and the gateway serve any domain. */
export const domainRules: readonly Rule[] = [
  {
    name: "no-domain-words-in-the-kit",
    sentence: "The kit and the gateway hold no domain word: they serve any graph.",
    find: ({ modules }) =>
      modules
        .filter(({ path }) => /^(?:kit|gateway)\//.test(path) && isProductCode(path))
        .flatMap(({ path, names, texts }) =>
          [...names, ...texts]
            .filter(({ text }) => speaksOfDomain(text) && text !== allowedTypes[path])
            .map(({ text, line }) => ({ path, line, found: `says ${JSON.stringify(text.slice(0, 60))}` })),
        ),
  },
];

function speaksOfDomain(text: string): boolean {
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
