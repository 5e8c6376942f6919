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

/**
 * `JSON.parse`, but a repeated key in one object is an error: parsers disagree about which value counts (RFC 8259, 4). A repeated key leaves
 * fewer members in the value than the text has keys, so the two are counted and compared. Counting takes 0.4 of 1.0 µs for a body of 1 KB,
 * 15 of 39 µs for a GraphQL document of 64 KB, and 140 of 200 µs for variables of 64 KB with 3,300 members.
 * @throws JsonError if the text is not JSON or repeats a key.
 */
export function parseUniqueJson(text: string): unknown {
  const value = parse(text);
  if (countMembers(value) !== countKeys(text)) throw new JsonError("has a key twice in one object");
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

/**
 * Counts the members of all objects; the elements of arrays are not members. Uses a list instead of recursion, since the nesting depth is
 * limited only by the text's length.
 */
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

/** Counts the keys in well-formed JSON: strings followed by a colon. `indexOf` skips long strings faster than a loop over characters. */
function countKeys(json: string): number {
  let keys = 0;
  for (let index = json.indexOf('"'); index !== -1; index = json.indexOf('"', index)) {
    index = endOfString(json, index);
    while (isSpace(json.charCodeAt(index))) index++;
    if (json.charCodeAt(index) === colon) keys++;
  }
  return keys;
}

/**
 * @param begin the index of a string's opening quote.
 * @returns the index after its closing quote; the length of the text if the string is not closed.
 */
export function endOfString(json: string, begin: number): number {
  for (let end = json.indexOf('"', begin + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === backslash) backslashes++;
    // An odd number of backslashes escapes the quote.
    if (backslashes % 2 === 0) return end + 1;
  }
  return json.length;
}

const colon = 0x3a;
const backslash = 0x5c;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
