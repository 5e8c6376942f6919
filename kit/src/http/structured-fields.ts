/** Parses structured fields (RFC 9651): dictionaries and lists. Parameters are validated, but not returned. */

/** A value of a dictionary or a member of a list. The base64 of `bytes` and the percent-encoding of a display string are not decoded. */
export type StructuredItem =
  | { readonly kind: "integer" | "decimal" | "date"; readonly value: number }
  | { readonly kind: "string" | "token" | "bytes" | "display-string"; readonly value: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "inner-list"; readonly value: readonly StructuredItem[] };

/** RFC 9651, 4.2.2: the last value of a repeated key counts. @returns undefined if any part of the field is invalid. */
export function parseDictionary(text: string): ReadonlyMap<string, StructuredItem> | undefined {
  const reader = new Reader(text);
  const members = new Map<string, StructuredItem>();
  return parseWhole(reader, members, () => {
    const key = reader.take(keyPattern);
    const value = reader.skip("=") ? readMember(reader) : truth;
    readParameters(reader);
    members.delete(key);
    members.set(key, value);
  });
}

/** RFC 9651, 4.2.1. @returns undefined if any part of the field is invalid. */
export function parseList(text: string): readonly StructuredItem[] | undefined {
  const reader = new Reader(text);
  const members: StructuredItem[] = [];
  return parseWhole(reader, members, () => {
    members.push(readMember(reader));
    readParameters(reader);
  });
}

/** Thrown by the readers below; `parseWhole` converts it to undefined. */
class InvalidField extends Error {}

/** The value of a dictionary key without `=`. */
const truth: StructuredItem = { kind: "boolean", value: true };
const keyPattern = /[a-z*][a-z0-9_\-.*]*/y;
const numberPattern = /-?\d+(?:\.\d+)?/y;
const stringPattern = /"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y;
const tokenPattern = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const bytesPattern = /:[A-Za-z0-9+/=]*:/y;
const booleanPattern = /\?[01]/y;
const datePattern = /@-?\d{1,15}/y;
const displayPattern = /%"(?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*"/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  peek(): string {
    return this.#text[this.#at] ?? "";
  }

  skip(character: string): boolean {
    if (this.peek() !== character) return false;
    this.#at++;
    return true;
  }

  skipSpaces(pattern: RegExp = /[ ]*/y): void {
    this.take(pattern);
  }

  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [match] = pattern.exec(this.#text) ?? [];
    if (match === undefined) throw new InvalidField();
    this.#at += match.length;
    return match;
  }
}

/** Reads members separated by commas, to the end of the text; an empty field is valid. */
function parseWhole<T>(reader: Reader, members: T, readOne: () => void): T | undefined {
  try {
    reader.skipSpaces();
    while (!reader.isAtEnd) {
      readOne();
      reader.skipSpaces(/[ \t]*/y);
      if (reader.isAtEnd) break;
      if (!reader.skip(",")) return undefined;
      reader.skipSpaces(/[ \t]*/y);
      if (reader.isAtEnd) return undefined;
    }
    return members;
  } catch (error) {
    if (error instanceof InvalidField) return undefined;
    throw error;
  }
}

function readMember(reader: Reader): StructuredItem {
  return reader.peek() === "(" ? readInnerList(reader) : readItem(reader);
}

function readInnerList(reader: Reader): StructuredItem {
  const items: StructuredItem[] = [];
  reader.skip("(");
  for (;;) {
    reader.skipSpaces();
    if (reader.skip(")")) return { kind: "inner-list", value: items };
    items.push(readItem(reader));
    readParameters(reader);
    if (reader.peek() !== " " && reader.peek() !== ")") throw new InvalidField();
  }
}

function readParameters(reader: Reader): void {
  while (reader.skip(";")) {
    reader.skipSpaces();
    reader.take(keyPattern);
    if (reader.skip("=")) readItem(reader);
  }
}

/** RFC 9651, 4.2.3.1: the first character determines the type. */
function readItem(reader: Reader): StructuredItem {
  const first = reader.peek();
  if (first === '"') return { kind: "string", value: unquote(reader.take(stringPattern)) };
  if (first === ":") return { kind: "bytes", value: reader.take(bytesPattern).slice(1, -1) };
  if (first === "?") return { kind: "boolean", value: reader.take(booleanPattern) === "?1" };
  if (first === "@") return { kind: "date", value: Number(reader.take(datePattern).slice(1)) };
  if (first === "%") return { kind: "display-string", value: reader.take(displayPattern).slice(2, -1) };
  if (/[-0-9]/.test(first)) return readNumber(reader.take(numberPattern));
  return { kind: "token", value: reader.take(tokenPattern) };
}

/** RFC 9651, 4.2.4: 15 digits, or 12 before the point and 3 after it. */
function readNumber(text: string): StructuredItem {
  const [whole = "", fraction] = text.replace("-", "").split(".");
  const isTooLong = fraction === undefined ? whole.length > 15 : whole.length > 12 || fraction.length > 3;
  if (isTooLong) throw new InvalidField();
  return { kind: fraction === undefined ? "integer" : "decimal", value: Number(text) };
}

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(/\\(["\\])/g, "$1");
}
