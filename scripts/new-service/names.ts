// `line-items` and `LineItem` give the table line_items, the path /line-items, the fields lineItem and lineItems, and "a line item" in texts.
import { feedPortOf } from "@tributary/kit/feed/feed-config";

interface Spellings {
  /** `LineItem`. */
  readonly pascal: string;
  /** `lineItem`. */
  readonly camel: string;
  /** `line_item`. */
  readonly snake: string;
  /** `line-item`. */
  readonly kebab: string;
  /** `line item`. */
  readonly prose: string;
  /** `Line item`. */
  readonly sentence: string;
}

export interface NewServiceNames {
  readonly service: string;
  readonly entity: string;
  /** `LineItems`. */
  readonly plural: string;
  /** Undefined without `--extends`. */
  readonly parent: string | undefined;
  readonly team: string;
  readonly port: number;
}

/** Words with a capital letter each, so that every spelling follows from them. */
export const entityPattern = /^(?:[A-Z][a-z0-9]+)+$/;

/** Each has two words, so that its spellings differ from each other. */
export const templateNames: NewServiceNames = {
  service: "gadget-shop",
  entity: "SpareGadget",
  plural: "SpareGadgets",
  parent: "ParentThing",
  team: "@tributary/template-team",
  port: 4950,
};

const endsInConsonantAndY = /[^aeiou]y$/;
const endsInHiss = /(?:s|x|z|ch|sh)$/;
/** A first letter that is spoken alone, and whose name begins with a vowel: `x2 thing`. */
const beginsWithVowelLetter = /^[aefhilmnorsx](?![a-z])/i;
/** Not a `u` as in `unit`, `user`, `utility` and `uranium`. */
const beginsWithVowelSound = /^(?:[aeio]|u(?!ni|s[aeiu]|t[ei]|r[aeiou]))/i;
const wholeNumber = /^\d+$/;

export function spell(pascal: string): Spellings {
  const words = pascal.match(/[A-Z][a-z0-9]*/g) ?? [pascal];
  const lowerWords = words.map((word) => word.toLowerCase());
  const prose = lowerWords.join(" ");
  return {
    pascal,
    camel: pascal.charAt(0).toLowerCase() + pascal.slice(1),
    snake: lowerWords.join("_"),
    kebab: lowerWords.join("-"),
    prose,
    sentence: capitalize(prose),
  };
}

/** By spelling; other nouns need `--plural`. */
export function pluralize(noun: string): string {
  if (endsInConsonantAndY.test(noun)) return `${noun.slice(0, -1)}ies`;
  if (endsInHiss.test(noun)) return `${noun}es`;
  return `${noun}s`;
}

/** `an invoice`, `a user`, `an x2 thing`. */
function articleOf(noun: string): "a" | "an" {
  const isVowelFirst = beginsWithVowelLetter.test(noun) || beginsWithVowelSound.test(noun);
  return isVowelFirst ? "an" : "a";
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Replaces the names of the template in a text or a path, and the articles `a` before them. */
export function createRenaming(names: NewServiceNames): (text: string) => string {
  const replacements = listReplacements(names);
  // The longest first, because SpareGadgets contains SpareGadget.
  const sources = [...replacements.keys()].toSorted((a, b) => b.length - a.length).map(toPatternSource);
  const nouns = [templateNames.entity, templateNames.parent ?? ""].map((name) => spell(name).prose);
  const articleSource = String.raw`\b([Aa]) (?=(${nouns.join("|")})\b)`;
  const pattern = new RegExp([articleSource, ...sources].join("|"), "g");
  return (text) =>
    text.replaceAll(pattern, (found: string, article?: string, noun?: string) => {
      if (article === undefined || noun === undefined) return replacements.get(found) ?? found;
      const newArticle = articleOf(replacements.get(noun) ?? noun);
      return article === "A" ? `${capitalize(newArticle)} ` : `${newArticle} `;
    });
}

/** A port is found only as a whole number, all other names also within words. */
function toPatternSource(name: string): string {
  return wholeNumber.test(name) ? String.raw`(?<!\d)${name}(?!\d)` : name;
}

function listReplacements(names: NewServiceNames): ReadonlyMap<string, string> {
  const replacements = new Map<string, string>();
  for (const key of ["entity", "plural", "parent"] as const) {
    const templateName = templateNames[key];
    const newName = names[key];
    if (templateName === undefined || newName === undefined) continue;
    const templateSpellings = spell(templateName);
    const newSpellings = spell(newName);
    for (const spelling of Object.keys(templateSpellings) as (keyof Spellings)[])
      replacements.set(templateSpellings[spelling], newSpellings[spelling]);
  }
  replacements.set(templateNames.service, names.service);
  replacements.set(templateNames.team, names.team);
  replacements.set(`${templateNames.port}`, `${names.port}`);
  replacements.set(`${feedPortOf(templateNames.port)}`, `${feedPortOf(names.port)}`);
  return replacements;
}
