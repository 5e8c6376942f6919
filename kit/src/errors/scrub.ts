// Redaction of every log line, called by process/log.ts and describe-error.ts. A safety net: log calls must not contain client data.

const charactersMax = 4_096;
/** The maximum number of nested levels of objects and lists. */
const depthMax = 5;
/** The maximum number of logged entries of one object or list. */
const entriesMax = 100;

const urlCredentials = /\/\/[^\s/@]{1,256}@/g;
const emailAddress = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g;
/** `eyJ` is `{"` in base64, with which the header of a JWT begins. */
const jsonWebToken = /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g;
const authorizationValue = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;

/** Removes email addresses, tokens and URL credentials from a text for the log, and cuts it at 4,096 characters. */
export function scrubText(text: string): string {
  const bounded = text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
  // Without these characters no pattern can match (`Bearer x` has white space). For most texts this check is enough, and 20 times faster.
  const mayMatch = bounded.includes("@") || bounded.includes("eyJ") || /\s/.test(bounded);
  if (!mayMatch) return bounded;
  return bounded
    .replaceAll(urlCredentials, "//<credentials>@")
    .replaceAll(emailAddress, "<email>")
    .replaceAll(jsonWebToken, "<token>")
    .replaceAll(authorizationValue, "$1 <token>");
}

/**
 * Applies `scrubText` to all texts in the fields of a log line, but not to the names of fields. Of each object or list the first 100 entries are
 * logged, down to five levels; deeper objects and lists become "…". Errors are returned unchanged, since `describeError` redacts them.
 */
export function scrubFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return scrub(fields, depthMax) as Record<string, unknown>;
}

function scrub(value: unknown, depth: number): unknown {
  if (typeof value === "string") return scrubText(value);
  if (typeof value !== "object" || value === null || value instanceof Error) return value;
  // Dates, URLs and buffers: scrubs the JSON that the log would write. `toJSON` may return undefined, which is logged as null.
  if ("toJSON" in value && typeof value.toJSON === "function")
    return scrub(JSON.parse(JSON.stringify(value) ?? "null"), depth);
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((entry) => scrub(entry, depth - 1));
  const entries = Object.entries(value).slice(0, entriesMax);
  return Object.fromEntries(entries.map(([name, entry]) => [name, scrub(entry, depth - 1)]));
}
