import { z } from "zod";
import { invalidInput, type Problem } from "./app-error.ts";

const problemsMax = 100;
/** Control characters other than tab, line feed and carriage return. */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
const controlCharacter = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/;

/** @throws AppError BAD_USER_INPUT with at most `problemsMax` problems; pointers refer to the value as sent. */
export function parseShape<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  // Limited again after the conversion, since one issue for unknown fields becomes many problems.
  const issues = result.error.issues.slice(0, problemsMax);
  const problems = issues.flatMap(toProblems).slice(0, problemsMax);
  throw invalidInput(problems);
}

export interface TextLimits {
  readonly min: number;
  readonly max: number;
  /** The subject of the error messages, such as `A name`. */
  readonly what: string;
  /** Whether whitespace at the ends remains, as Markdown needs it; by default it is trimmed. */
  readonly keepsEnds?: boolean;
  /** As `JSON.stringify` writes the text, in UTF-8 and without the quotes. */
  readonly jsonBytesMax?: number;
}

export function text(limits: TextLimits) {
  const trim = (value: string) => (limits.keepsEnds ? value : value.trim());
  return z
    .string(`${limits.what} is a text.`)
    .refine((value) => isStorable(value), {
      error: "It contains characters that cannot be stored.",
      params: { code: "bad_characters" },
    })
    .refine((value) => withinLength(trim(value), limits.min, limits.max), {
      error: `${limits.what} has ${limits.min} to ${limits.max.toLocaleString("en")} characters.`,
      params: { code: "length" },
    })
    .refine((value) => !isTooLongAsJson(trim(value), limits), {
      error: `${limits.what} has at most ${limits.jsonBytesMax?.toLocaleString("en")} bytes as JSON.`,
      params: { code: "length" },
    })
    .transform(trim);
}

/** A JSON Pointer as a URI fragment (RFC 6901, 6). */
export function toPointer(path: readonly PropertyKey[]): string {
  const tokens = path.map((key) => {
    const escaped = String(key).replaceAll("~", "~0").replaceAll("/", "~1");
    return encodeURIComponent(escaped);
  });
  return ["#", ...tokens].join("/");
}

function toProblems(issue: z.core.$ZodIssue): readonly Problem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      pointer: toPointer([...issue.path, key]),
      code: "unknown_field",
      detail: "There is no such field.",
    }));
  }
  return [{ pointer: toPointer(issue.path), code: codeOf(issue), detail: issue.message }];
}

function codeOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "custom") {
    const code: unknown = issue.params?.["code"];
    return typeof code === "string" ? code : "invalid";
  }
  const isMissing = issue.code === "invalid_type" && issue.input === undefined;
  return isMissing ? "required" : issue.code;
}

function withinLength(value: string, min: number, max: number): boolean {
  // A code point has at most two units, so a text with more than twice as many units is too long without counting.
  if (value.length > max * 2) return false;
  // oxlint-disable-next-line typescript/no-misused-spread -- code points are what PostgreSQL's char_length counts
  const length = [...value].length;
  return length >= min && length <= max;
}

function isTooLongAsJson(value: string, { min, max, jsonBytesMax }: TextLimits): boolean {
  if (jsonBytesMax === undefined || !withinLength(value, min, max)) return false;
  const jsonBytes = Buffer.byteLength(JSON.stringify(value)) - '""'.length;
  return jsonBytes > jsonBytesMax;
}

function isStorable(value: string): boolean {
  return value.isWellFormed() && !controlCharacter.test(value);
}
