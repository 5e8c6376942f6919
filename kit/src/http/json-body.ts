import { isUtf8 } from "node:buffer";

/** The message completes the sentence "The body …", and does not quote the text. */
export class JsonError extends SyntaxError {
  override readonly name = "JsonError";
}

const charsetParameter = /^charset\b/;
const utf8Parameters: ReadonlySet<string> = new Set([
  "charset=utf-8",
  'charset="utf-8"',
  "charset=utf8",
  'charset="utf8"',
]);

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** A repeated charset is rejected even if both agree (RFC 6838, 4.3), and so is a misspelled one: another reader could assume a different charset. */
export function isJsonType(contentType: string | undefined, types: readonly string[]): boolean {
  if (contentType === undefined) return false;
  if (types.includes(contentType)) return true;
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  if (!types.includes(type)) return false;
  const [charset, ...otherCharsets] = parameters.filter((parameter) => charsetParameter.test(parameter));
  if (otherCharsets.length > 0) return false;
  return charset === undefined || utf8Parameters.has(charset);
}

/** A byte order mark, which a sender must not add (RFC 8259, 8.1), is an error. @throws JsonError */
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
  /** Members of all objects, plus all lists and objects. A text may have `valuesPerMember` times as many values. */
  readonly membersMax: number;
}

/** A megabyte with 500,000 numbers takes 20 ms to parse, and longer to coerce. */
const valuesPerMember = 10;

/** 10,000 different keys take 7 ms. */
export const defaultJsonLimits: JsonLimits = { levelsMax: 500, membersMax: 10_000 };

/** A repeated key is an error (RFC 8259, 4): it leaves fewer members in the value than the text has keys. @throws JsonError */
export function parseUniqueJson(text: string, limits: JsonLimits = defaultJsonLimits): unknown {
  const keyCount = countKeys(text, limits);
  const value = parseJson(text);
  if (countMembers(value) !== keyCount) throw new JsonError("has a key twice in one object");
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The original error quotes the text.
    throw new JsonError("is not JSON");
  }
}

function countMembers(root: unknown): number {
  const pending: object[] = isObject(root) ? [root] : [];
  let memberCount = 0;
  let next = pending.pop();
  while (next !== undefined) {
    let values: readonly unknown[];
    if (Array.isArray(next)) {
      values = next;
    } else {
      values = Object.values(next);
      memberCount += values.length;
    }
    for (const value of values) if (isObject(value)) pending.push(value);
    next = pending.pop();
  }
  return memberCount;
}

/** Counts the colons outside strings. For a text that is not JSON, the number has no meaning. @throws JsonError above a limit. */
function countKeys(json: string, { levelsMax, membersMax }: JsonLimits): number {
  const valuesMax = membersMax * valuesPerMember;
  let keyCount = 0;
  let commaCount = 0;
  let openedCount = 0;
  let level = 0;
  let index = 0;
  while (index < json.length) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      index = endOfString(json, index);
      continue;
    }
    index++;
    if (code === colon) keyCount++;
    else if (code === openBrace || code === openBracket) {
      openedCount++;
      level++;
      if (level > levelsMax) throw new JsonError(`has more than ${levelsMax} levels of lists and objects`);
    } else {
      if (code === closeBrace || code === closeBracket) level--;
      else if (code === comma && ++commaCount >= valuesMax) throw new JsonError(`has more than ${valuesMax} values`);
      continue;
    }
    if (keyCount + openedCount > membersMax)
      throw new JsonError(`has more than ${membersMax} members, lists and objects`);
  }
  return keyCount;
}

/** After these steps, `endOfString` searches by `indexOf`, which is faster for long strings and slower for short ones and escapes. */
const loopStepsMax = 16;

/** @param begin the index of a string's opening quote. @returns the index after its closing quote, or the length of the text. */
export function endOfString(json: string, begin: number): number {
  let index = begin + 1;
  for (let steps = 0; index < json.length; steps++) {
    if (steps === loopStepsMax) {
      const nextQuote = json.indexOf('"', index);
      if (nextQuote === -1) return json.length;
      const isAfterBackslash = json.charCodeAt(nextQuote - 1) === backslash;
      if (!isAfterBackslash) return nextQuote + 1;
      index = afterEscape(json, index, nextQuote);
      steps = 0;
    }
    const code = json.charCodeAt(index);
    if (code === quote) return index + 1;
    index += code === backslash ? 2 : 1;
  }
  return json.length;
}

/** @returns the index after the quote, at `quoteIndex`, if it is escaped: by an odd number of backslashes; else `quoteIndex`. */
function afterEscape(json: string, begin: number, quoteIndex: number): number {
  let firstBackslash = quoteIndex;
  while (firstBackslash > begin && json.charCodeAt(firstBackslash - 1) === backslash) firstBackslash--;
  const isEscaped = (quoteIndex - firstBackslash) % 2 === 1;
  return isEscaped ? quoteIndex + 1 : quoteIndex;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
