import { z } from "zod";

/** What `text` of the validation tool refuses, inside of a pattern's brackets. */
const refused = String.raw`\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F`;

/**
 * Says of a schema made by `text` what its refinements keep to themselves. Spaces at the ends are cut off before they count, which a
 * schema cannot say: what fits it is taken, and a few texts more are, with spaces around them.
 */
export function withTextLimits<S extends z.ZodType>(
  schema: S,
  { min, max }: { readonly min: number; readonly max: number },
): S {
  const some = `[^${refused}]*`;
  // U+FEFF is a space to JavaScript, and not to every other reader of patterns.
  const pattern = min === 0 ? `^${some}$` : String.raw`^${some}[^${refused}\s\uFEFF]${some}$`;
  return schema.meta({ minLength: min, maxLength: max, pattern });
}

/** Text in an answer, of at most so many characters (code points). */
export function shownText(max: number, example: string) {
  return z.string().meta({ maxLength: max, pattern: `^[^${refused}]*$`, examples: [example] });
}

/** An id as clients see it: a text that means nothing to them. */
export function opaqueId(description: string, example: string) {
  return z
    .string()
    .min(1)
    .max(64)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
    .meta({ description, examples: [example] });
}

/** An id that a list is asked for: whatever is sent is taken, and nothing is found under what can be no id. */
export function anyId(description: string, example: string) {
  return z
    .string()
    .max(4_096)
    .meta({ pattern: String.raw`^[^\u0000]*$`, description, examples: [example] });
}

/** Such an id in a path, where it is not empty, and short; what has a meaning of its own there is 404. */
export function anyIdInPath(description: string, example: string) {
  return z
    .string()
    .min(1)
    .max(256)
    .meta({ pattern: String.raw`^[^\u0000-\u001F\u007F-\u009F/\\%?#;]+$`, description, examples: [example] });
}

/** RFC 3339, UTC, milliseconds. */
export function timestamp(description: string) {
  return z
    .string()
    .length(24)
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ description, format: "date-time", examples: ["2026-01-02T03:04:05.678Z"] });
}

/** A whole number within 32 bits. */
export function wholeNumber(min: number, max: number) {
  return z.int().min(min).max(max).meta({ format: "int32" });
}

const cursorText = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[A-Za-z0-9_-]+$/);

/** `limit` and `cursor`, as every list reads them. */
export const pageFields = {
  limit: wholeNumber(1, 100).default(20).meta({ description: "How many items at most." }),
  cursor: cursorText.meta({
    description:
      "Where the page begins: from `Link`, or from the answer's `page`. It holds for the list that it came from, with the same filters and order; any other is 400.",
  }),
};

/** `sort` of a list that can be turned round. */
export const sortField = {
  sort: z.enum(["newest", "oldest"]).default("newest").meta({ description: "Which items come first." }),
};

/** A list from version 2 on: the items, and the cursors of the pages beside it. */
export function pageOf(items: z.ZodType) {
  const neighbour = cursorText.nullable();
  return z.strictObject({
    data: z.array(items).max(100),
    page: z.strictObject({
      next: neighbour.meta({ description: "The `cursor` of the page after this one; null when there is none." }),
      prev: neighbour.meta({ description: "The `cursor` of the page before this one; null when there is none." }),
    }),
  });
}

/** A list in version 1: the items alone. */
export function bareList(items: z.ZodType) {
  return z.array(items).max(100);
}
