// For the OpenAPI documents only: these schemas validate nothing.
import { z } from "zod";
import type { DocumentedResponse } from "./openapi.ts";

/** What `text` in errors/validate.ts rejects, as the inside of a character class. */
const rejectedCharacters = String.raw`\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F`;

/** `text` checks its limits by refinements, which Zod leaves out. It trims first: the service also accepts surrounding spaces. */
export function withTextLimits<S extends z.ZodType>(
  schema: S,
  { min, max }: { readonly min: number; readonly max: number },
): S {
  const anyText = `[^${rejectedCharacters}]*`;
  // The trimmed text must not be empty. `\s` includes U+FEFF in JavaScript, but not in all other engines.
  const pattern = min === 0 ? `^${anyText}$` : String.raw`^${anyText}[^${rejectedCharacters}\s\uFEFF]${anyText}$`;
  return schema.meta({ minLength: min, maxLength: max, pattern });
}

/** @param max in code points. */
export function responseText(max: number, example: string) {
  return z.string().meta({ maxLength: max, pattern: `^[^${rejectedCharacters}]*$`, examples: [example] });
}

export function opaqueId(description: string, example: string) {
  return z
    .string()
    .min(1)
    .max(64)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
    .meta({ description, examples: [example] });
}

/** Of a row that another service may have. */
export function rowIdInput(description: string) {
  return z
    .string()
    .min(1)
    .max(18)
    .regex(/^[1-9][0-9]{0,17}$/)
    .meta({ description, examples: ["1"] });
}

/** Any text without NUL is accepted, and one that cannot be an id matches nothing. */
export function anyId(description: string, example: string) {
  return z
    .string()
    .max(4_096)
    .meta({ pattern: String.raw`^[^\u0000]*$`, description, examples: [example] });
}

/** The pattern excludes characters with a meaning in URLs. */
export function anyIdInPath(description: string, example: string) {
  return z
    .string()
    .min(1)
    .max(256)
    .meta({ pattern: String.raw`^[^\u0000-\u001F\u007F-\u009F/\\%?#;]+$`, description, examples: [example] });
}

export function timestamp(description: string) {
  return z
    .string()
    .length(24)
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
    .meta({ description, format: "date-time", examples: ["2026-01-02T03:04:05.678Z"] });
}

/** Within 32 bits. */
export function wholeNumber(min: number, max: number) {
  return z.int().min(min).max(max).meta({ format: "int32" });
}

const cursorText = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[A-Za-z0-9_-]+$/);

export const pageFields = {
  limit: wholeNumber(1, 100).default(20).meta({ description: "The maximum number of items." }),
  cursor: cursorText.meta({
    description:
      "The start of the page, from `Link` or from `page` in the response. A cursor is valid only for the list that it came from, with the same filters and order; any other use is a 400.",
  }),
};

export const sortField = {
  sort: z.enum(["newest", "oldest"]).default("newest").meta({ description: "The order of the items." }),
};

export function pageOf(items: z.ZodType) {
  const adjacentCursor = cursorText.nullable();
  return z.strictObject({
    data: z.array(items).max(100),
    page: z.strictObject({
      next: adjacentCursor.meta({ description: "The `cursor` of the next page; null if there is none." }),
      prev: adjacentCursor.meta({ description: "The `cursor` of the previous page; null if there is none." }),
    }),
  });
}

export function bareList(items: z.ZodType) {
  return z.array(items).max(100);
}

type ListSchema = (items: z.ZodType) => z.ZodType;

/** @param list `bareList` for version 1, `pageOf` for version 2. */
export function pageResponse(list: ListSchema, item: z.ZodType, itemsName: string): DocumentedResponse {
  return { status: 200, description: `A page of ${itemsName}.`, schema: list(item), headers: ["Link"] };
}

export function examplePage(list: ListSchema, item: unknown, next: string | null = "TPrD0eO4pAhOgq0gIkPFym45OTk4") {
  return list === bareList ? [item] : { data: [item], page: { next, prev: null } };
}
