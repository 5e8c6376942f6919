import { isUtf8 } from "node:buffer";

/** Client JSON that is rejected. The message completes the sentence "The body …", and does not quote the text. */
export class JsonError extends SyntaxError {
  override readonly name = "JsonError";
}

const utf8Charsets: ReadonlySet<string> = new Set(
  ["utf-8", "utf8"].flatMap((charset) => [`charset=${charset}`, `charset="${charset}"`]),
);

/**
 * Whether a `Content-Type` is one of the media types, in UTF-8. A repeated charset is rejected even if both agree (RFC 6838, 4.3), and so is
 * a misspelled one: another reader of the same request could assume a different charset.
 */
export function isJsonType(contentType: string | undefined, types: readonly string[]): boolean {
  if (contentType === undefined) return false;
  // The fast path: a header without parameters, in lower case.
  if (types.includes(contentType)) return true;
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const [charset, ...others] = parameters.filter((parameter) => /^charset\b/.test(parameter));
  return types.includes(type) && others.length === 0 && (charset === undefined || utf8Charsets.has(charset));
}

/**
 * Decodes JSON in UTF-8. A byte order mark, which a sender must not add (RFC 8259, 8.1), is an error.
 * @throws JsonError.
 */
export function decodeJson(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new JsonError("is not UTF-8");
  const text = bytes.toString("utf8");
  if (text.startsWith("\ufeff")) throw new JsonError("begins with a byte order mark");
  return text;
}

/** Bounds the work for one text: `JSON.parse` blocks the event loop for 90 ms on one megabyte of lists in lists. */
export interface JsonLimits {
  /** Nested lists and objects, the outermost included. `JSON.stringify` overflows the stack far above the default. */
  readonly levelsMax: number;
  /** Members of all objects, plus all lists and objects. Other elements of lists are limited by the length of the text only. */
  readonly membersMax: number;
}

/** 10,000 different keys take 7 ms. */
export const defaultJsonLimits: JsonLimits = { levelsMax: 500, membersMax: 10_000 };

/**
 * `JSON.parse` with limits. A repeated key in one object is an error: parsers disagree about which value counts (RFC 8259, 4). A repeated key
 * leaves fewer members in the value than the text has keys, so the two are counted and compared.
 * @throws JsonError if the text is not JSON, exceeds a limit or repeats a key.
 */
export function parseUniqueJson(text: string, limits: JsonLimits = defaultJsonLimits): unknown {
  const keys = countKeys(text, limits);
  const value = parse(text);
  if (countMembers(value) !== keys) throw new JsonError("has a key twice in one object");
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The original error quotes the text.
    throw new JsonError("is not JSON");
  }
}

/** Counts the members of all objects; the elements of arrays are not members. */
function countMembers(root: unknown): number {
  const pending: object[] = isObject(root) ? [root] : [];
  let members = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const values: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) members += values.length;
    for (const value of values) if (isObject(value)) pending.push(value);
  }
  return members;
}

/**
 * Counts the keys of JSON, which are its colons outside strings, before it is parsed. Text that is not JSON has any result.
 * @throws JsonError as soon as a limit is exceeded.
 */
function countKeys(json: string, { levelsMax, membersMax }: JsonLimits): number {
  let keys = 0;
  let opened = 0;
  let levels = 0;
  for (let index = 0; index < json.length;) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      index = endOfString(json, index);
      continue;
    }
    index++;
    if (code === colon) keys++;
    else if (code === openBrace || code === openBracket) {
      opened++;
      if (++levels > levelsMax) throw new JsonError(`has more than ${levelsMax} levels of lists and objects`);
    } else {
      if (code === closeBrace || code === closeBracket) levels--;
      continue;
    }
    if (keys + opened > membersMax) throw new JsonError(`has more than ${membersMax} members, lists and objects`);
  }
  return keys;
}

/**
 * @param begin the index of a string's opening quote.
 * @returns the index after its closing quote; the length of the text if the string is not closed.
 */
export function endOfString(json: string, begin: number): number {
  let index = begin + 1;
  // `indexOf` is faster for long strings, a loop for short ones and for escapes.
  for (let steps = 0; index < json.length; steps++) {
    if (steps === loopSteps) {
      const next = json.indexOf('"', index);
      if (next === -1) return json.length;
      if (json.charCodeAt(next - 1) !== backslash) return next + 1;
      index = afterEscape(json, index, next);
      steps = 0;
    }
    const code = json.charCodeAt(index);
    if (code === quote) return index + 1;
    index += code === backslash ? 2 : 1;
  }
  return json.length;
}

const loopSteps = 16;

/** @param quoteIndex of a quote after a backslash. @returns that index, or the index after it if the quote is escaped. */
function afterEscape(json: string, begin: number, quoteIndex: number): number {
  let backslashes = 0;
  while (quoteIndex - 1 - backslashes >= begin && json.charCodeAt(quoteIndex - 1 - backslashes) === backslash)
    backslashes++;
  return backslashes % 2 === 0 ? quoteIndex : quoteIndex + 1;
}

const quote = 0x22;
const colon = 0x3a;
const backslash = 0x5c;
const [openBrace, closeBrace] = [0x7b, 0x7d];
const [openBracket, closeBracket] = [0x5b, 0x5d];

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
