// The spellings of the names in a new service, from what the developer writes: `line-items` and `LineItem` give the table line_items, the path
// /line-items, the fields lineItem and lineItems, and "a line item" in texts.

/** One name in each spelling that the template has. */
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

/** What a new service is called. */
export interface NewServiceNames {
  /** Of the service: `line-items`. */
  readonly service: string;
  /** Of the entity: `LineItem`. */
  readonly entity: string;
  /** `LineItems`. */
  readonly plural: string;
  /** The type of another service that gets a list of the entities: `Post`. Undefined without `--extends`. */
  readonly parent: string | undefined;
  readonly team: string;
  readonly port: number;
}

/** An entity's name: words with a capital letter each, so that every spelling follows from it. */
export const entityPattern = /^(?:[A-Z][a-z0-9]+)+$/;

/** The names in the template. Each has two words, so that its spellings differ from each other. */
export const templateNames: NewServiceNames = {
  service: "gadget-shop",
  entity: "SpareGadget",
  plural: "SpareGadgets",
  parent: "ParentThing",
  team: "@tributary/template-team",
  port: 4900,
};

export function spell(pascal: string): Spellings {
  const words = pascal.match(/[A-Z][a-z0-9]*/g) ?? [pascal];
  const lower = words.map((word) => word.toLowerCase());
  const prose = lower.join(" ");
  return {
    pascal,
    camel: pascal.charAt(0).toLowerCase() + pascal.slice(1),
    snake: lower.join("_"),
    kebab: lower.join("-"),
    prose,
    sentence: prose.charAt(0).toUpperCase() + prose.slice(1),
  };
}

/** The plural of most English nouns, by spelling; others need `--plural`. */
export function pluralize(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

/** `an` before a noun that begins with the sound of a vowel: `an invoice`, `a user`, `an x2 thing`. */
function articleOf(noun: string): "a" | "an" {
  if (/^[aefhilmnorsx](?![a-z])/i.test(noun)) return "an";
  return /^(?:[aeio]|u(?!ni|s[aeiu]|t[ei]|r[aeiou]))/i.test(noun) ? "an" : "a";
}

/** Creates a function that replaces the names of the template in a text or a path. */
export function createRenaming(names: NewServiceNames): (text: string) => string {
  const spellings = replacements(names);
  // The longest first, because SpareGadgets contains SpareGadget. A port is replaced only as a whole number.
  const sources = [...spellings.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((text) => (/^\d+$/.test(text) ? String.raw`(?<!\d)${text}(?!\d)` : text));
  const nouns = [templateNames.entity, templateNames.parent ?? ""].map((name) => spell(name).prose);
  const pattern = new RegExp(String.raw`\b([Aa]) (?=(${nouns.join("|")})\b)|${sources.join("|")}`, "g");
  return (text) =>
    text.replaceAll(pattern, (found: string, article?: string, noun?: string) => {
      if (article === undefined || noun === undefined) return spellings.get(found) ?? found;
      const right = articleOf(spellings.get(noun) ?? noun);
      return `${article === "A" ? right.charAt(0).toUpperCase() + right.slice(1) : right} `;
    });
}

function replacements(names: NewServiceNames): ReadonlyMap<string, string> {
  const pairs = (["entity", "plural", "parent"] as const).flatMap((key) => {
    const [from, to] = [templateNames[key], names[key]];
    if (from === undefined || to === undefined) return [];
    const [old, current] = [spell(from), spell(to)];
    return (Object.keys(old) as (keyof Spellings)[]).map((spelling) => [old[spelling], current[spelling]] as const);
  });
  return new Map([
    ...pairs,
    [templateNames.service, names.service],
    [templateNames.team, names.team],
    [`${templateNames.port}`, `${names.port}`],
    // The port of the change feed.
    [`${templateNames.port + 100}`, `${names.port + 100}`],
  ]);
}
