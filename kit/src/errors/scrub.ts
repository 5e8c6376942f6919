/**
 * Takes out of a text what no log may hold: mail addresses, tokens, and the credentials of an address. The last net, not the rule: the rule
 * is that nobody logs what a caller sent.
 */
export function scrubText(text: string): string {
  const bounded = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  // Without any of these there is nothing to take out, and to see that is twenty times faster: most texts are words of ours.
  if (!bounded.includes("@") && !bounded.includes("eyJ") && !/\s/.test(bounded)) return bounded;
  return bounded
    .replaceAll(/\/\/[^\s/@]{1,256}@/g, "//<credentials>@")
    .replaceAll(/[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g, "<email>")
    .replaceAll(/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, "<token>")
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, "$1 <token>");
}

/** A line is for reading. */
const charactersMax = 4_096;
const depthMax = 5;
const entriesMax = 100;

/** The same for whatever a log line is given, as deep as five levels and a hundred entries; what lies below is left out. Errors stay as they are. */
export function scrubFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return scrub(fields, depthMax) as Record<string, unknown>;
}

function scrub(value: unknown, depth: number): unknown {
  if (typeof value === "string") return scrubText(value);
  if (typeof value !== "object" || value === null || value instanceof Error) return value;
  if ("toJSON" in value) return scrub(JSON.parse(JSON.stringify(value)), depth);
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((entry) => scrub(entry, depth - 1));
  const entries = Object.entries(value).slice(0, entriesMax);
  return Object.fromEntries(entries.map(([name, entry]) => [name, scrub(entry, depth - 1)]));
}
