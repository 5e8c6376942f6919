/** Structured fields (RFC 9651). Parameters are validated, but not returned. */

/** The base64 of `bytes` and the percent-encoding of a display string are not decoded. */
export type StructuredItem =
  | { readonly kind: "integer" | "decimal" | "date"; readonly value: number }
  | { readonly kind: "string" | "token" | "bytes" | "display-string"; readonly value: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "inner-list"; readonly value: readonly StructuredItem[] };

/** 4.2.2: the last value of a repeated key counts. @returns undefined if any part of the field is invalid. */
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

/** 4.2.1. @returns undefined if any part of the field is invalid. */
export function parseList(text: string): readonly StructuredItem[] | undefined {
  const reader = new Reader(text);
  const members: StructuredItem[] = [];
  return parseWhole(reader, members, () => {
    members.push(readMember(reader));
    readParameters(reader);
  });
}

class InvalidField extends Error {}

const truth: StructuredItem = { kind: "boolean", value: true };
const keyPattern = /[a-z*][a-z0-9_\-.*]*/y;
const numberPattern = /-?\d+(?:\.\d+)?/y;
const stringPattern = /"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y;
const tokenPattern = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const bytesPattern = /:[A-Za-z0-9+/=]*:/y;
const booleanPattern = /\?[01]/y;
const datePattern = /@-?\d{1,15}/y;
const displayPattern = /%"(?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*"/y;
const spacesPattern = /[ ]*/y;
const spacesAndTabsPattern = /[ \t]*/y;
const numberStart = /[-0-9]/;
const escapedCharacter = /\\(["\\])/g;
/** RFC 9651, 4.2.4. */
const integerDigitsMax = 15;
const wholeDigitsMax = 12;
const fractionDigitsMax = 3;

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

  skipSpaces(): void {
    this.take(spacesPattern);
  }

  skipSpacesAndTabs(): void {
    this.take(spacesAndTabsPattern);
  }

  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [match] = pattern.exec(this.#text) ?? [];
    if (match === undefined) throw new InvalidField();
    this.#at += match.length;
    return match;
  }
}

function parseWhole<T>(reader: Reader, members: T, addNext: () => void): T | undefined {
  try {
    reader.skipSpaces();
    while (!reader.isAtEnd) {
      addNext();
      reader.skipSpacesAndTabs();
      if (reader.isAtEnd) break;
      if (!reader.skip(",")) return undefined;
      reader.skipSpacesAndTabs();
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
  if (numberStart.test(first)) return toNumberItem(reader.take(numberPattern));
  return { kind: "token", value: reader.take(tokenPattern) };
}

function toNumberItem(text: string): StructuredItem {
  const [whole = "", fraction] = text.replace("-", "").split(".");
  if (fraction === undefined) {
    if (whole.length > integerDigitsMax) throw new InvalidField();
    return { kind: "integer", value: Number(text) };
  }
  const isTooLong = whole.length > wholeDigitsMax || fraction.length > fractionDigitsMax;
  if (isTooLong) throw new InvalidField();
  return { kind: "decimal", value: Number(text) };
}

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replaceAll(escapedCharacter, "$1");
}
