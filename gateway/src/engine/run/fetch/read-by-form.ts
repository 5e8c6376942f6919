// Stage 4 of 5: run. Reads the JSON of a response in the form that its request lets expect, in less time than JSON.parse, and leaves strings that are
// only forwarded undecoded (`spanSource`). Called by subgraph-response.ts, which parses all other responses.
import { isUtf8 } from "node:buffer";
import { parseBigIntJson } from "@tributary/kit/json/exact-json";
import type { Json } from "@tributary/kit/json/json";
import { spanSource } from "@tributary/kit/json/json-span";
import type { FieldForm, ObjectForm, ResponseForm } from "../../plan/compile/compiled-plan.ts";

const newline = 0x0a;
const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const digitZero = 0x30;
const digitNine = 0x39;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const firstBeyondAscii = 0x80;

const wholeNumber = /^-?\d+$/;
/** A double represents each of them exactly. */
const exactDigitsMax = 15;
/** A longer slice of a string refers to the string, which it keeps in memory (V8). */
const copiedCharactersMax = 12;
/** Lists in lists are read recursively. */
const listLevelsMax = 8;
/** After a response of another form, which is read twice: most likely, the next ones have it too. */
const skipsMax = 100;
/** In a short response. */
const vainBytesMin = 1_000;

/** Its stack is that of the module. */
const unexpected = new SyntaxError("The response has another form");

/** @returns `{ data }`, as JSON.parse except for numbers (`parseBigIntJson`) and spans; undefined for a response of another form, valid or not. */
export function readByForm(body: Buffer, form: ResponseForm): Json | undefined {
  if (form.skipsLeft > 0) {
    form.skipsLeft--;
    return undefined;
  }
  try {
    return new FormReader(body).read(form.root);
  } catch (error) {
    // RangeError: the stack overflows on lists in lists, many levels deep.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    form.skipsLeft = skipsMax;
    return undefined;
  }
}

/** Reads no white space between values: few servers send it. */
class FormReader {
  readonly #bytes: Buffer;
  /** Each character is one byte. */
  readonly #text: string;
  #at = 0;
  /** Compared with the tokens of other keys. */
  #vainBytes = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#text = bytes.toString("latin1");
  }

  read(root: ObjectForm): Json {
    const bytes = this.#bytes;
    if (bytes[0] !== openBrace || !isUtf8(bytes)) throw unexpected;
    const value = this.#readObject(root);
    // Apollo Server sends it.
    if (bytes[this.#at] === newline) this.#at++;
    if (this.#at !== bytes.length) throw unexpected;
    return value;
  }

  #readValue(field: FieldForm, level: number): unknown {
    const byte = this.#bytes[this.#at];
    if (byte === openBracket) return this.#readList(field, level + 1);
    if (byte === openBrace && field.object) return this.#readObject(field.object);
    if (byte === quote && !field.object) return this.#readString(field);
    return this.#readConstantOrNumber();
  }

  #readObject({ fields, Instance }: ObjectForm): Json {
    const bytes = this.#bytes;
    const object = new Instance();
    this.#at++;
    if (bytes[this.#at] === closeBrace) {
      this.#at++;
      return object;
    }
    let isInOrder = true;
    let hasSpans = false;
    for (let next = 0; ; next++) {
      const index = this.#skipKey(fields, next);
      const field = fields[index] as FieldForm;
      if (index < next) isInOrder = false;
      // Of a repeated key, the last value counts.
      if (!isInOrder && object[field.key] !== undefined) throw unexpected;
      const value = field.isForwarded ? this.#readForwarded() : this.#readValue(field, 0);
      if (field.isForwarded && typeof value === "number") hasSpans = true;
      object[field.key] = value;
      next = index;
      const byte = bytes[this.#at++];
      if (byte === comma) continue;
      if (byte !== closeBrace) throw unexpected;
      if (hasSpans) object[spanSource] = bytes;
      return object;
    }
  }

  /**
   * At most as many bytes are compared in vain as have been read: else an object of a union of a hundred types would cost a thousand comparisons.
   * @returns the index of its field: mostly `next`, more if the object lacks fields, less in another order.
   */
  #skipKey(fields: readonly FieldForm[], next: number): number {
    for (let index = next; index < fields.length; index++) if (this.#skip(fields[index] as FieldForm)) return index;
    for (let index = 0; index < next; index++) if (this.#skip(fields[index] as FieldForm)) return index;
    throw unexpected;
  }

  #skip({ token }: FieldForm): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    const count = token.length;
    for (let i = 0; i < count; i++) {
      if (bytes[start + i] === token[i]) continue;
      this.#vainBytes += i + 1;
      if (this.#vainBytes > start + vainBytesMin) throw unexpected;
      return false;
    }
    this.#at = start + count;
    return true;
  }

  #readList(field: FieldForm, level: number): readonly unknown[] {
    if (level > listLevelsMax) throw unexpected;
    const bytes = this.#bytes;
    const list: unknown[] = [];
    this.#at++;
    if (bytes[this.#at] === closeBracket) {
      this.#at++;
      return list;
    }
    for (;;) {
      list.push(this.#readValue(field, level));
      const byte = bytes[this.#at++];
      if (byte === closeBracket) return list;
      if (byte !== comma) throw unexpected;
    }
  }

  /** A span if it has no escape. */
  #readForwarded(): number | string | null {
    const bytes = this.#bytes;
    const start = this.#at;
    if (bytes[start] !== quote) {
      if (this.#readConstantOrNumber() === null) return null;
      throw unexpected;
    }
    let end = start + 1;
    for (let byte = bytes[end]; byte !== quote; byte = bytes[++end]) {
      if (byte === undefined || byte < space) throw unexpected;
      if (byte === backslash) return this.#readEscaped(end);
    }
    this.#at = end + 1;
    return start;
  }

  #readString(field: FieldForm): string {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start + 1;
    let bits = 0;
    for (let byte = bytes[end]; byte !== quote; byte = bytes[++end]) {
      if (byte === undefined || byte < space) throw unexpected;
      if (byte === backslash) return this.#readEscaped(end);
      bits |= byte;
    }
    this.#at = end + 1;
    if (bits >= firstBeyondAscii) return bytes.toString("utf8", start + 1, end);
    // A repeated name of a type or of an enum value is the same string, which is then compared in less time.
    const { lastText } = field;
    if (lastText.length === end - start - 1 && this.#endsWith(lastText, end)) return lastText;
    const text = this.#text.slice(start + 1, end);
    if (text.length <= copiedCharactersMax) field.lastText = text;
    return text;
  }

  /** From its end: ids mostly differ there. */
  #endsWith(text: string, end: number): boolean {
    const bytes = this.#bytes;
    const start = end - text.length;
    for (let i = text.length - 1; i >= 0; i--) if (bytes[start + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  /** @param end of the part without escapes. */
  #readEscaped(end: number): string {
    const bytes = this.#bytes;
    const start = this.#at;
    for (let byte = bytes[end]; byte !== quote; byte = bytes[++end]) {
      if (byte === undefined) throw unexpected;
      if (byte === backslash) end++;
    }
    this.#at = end + 1;
    return JSON.parse(bytes.toString("utf8", start, this.#at)) as string;
  }

  #readConstantOrNumber(): unknown {
    const bytes = this.#bytes;
    const start = this.#at;
    let end = start;
    let digits = 0;
    let byte = bytes[end];
    while (byte !== undefined && byte >= digitZero && byte <= digitNine) {
      digits = digits * 10 + (byte - digitZero);
      byte = bytes[++end];
    }
    const digitCount = end - start;
    while (byte !== comma && byte !== closeBrace && byte !== closeBracket) {
      if (byte === undefined || byte <= space || byte === quote) throw unexpected;
      byte = bytes[++end];
    }
    this.#at = end;
    const count = end - start;
    const isPlain = count === 1 || (bytes[start] !== digitZero && count > 0 && count <= exactDigitsMax);
    if (isPlain && digitCount === count) return digits;
    const text = this.#text.slice(start, end);
    if (text === "null") return null;
    if (text === "true") return true;
    if (text === "false") return false;
    // Only a whole number can become a bigint.
    return count > exactDigitsMax && wholeNumber.test(text)
      ? parseBigIntJson(bytes.subarray(start, end))
      : JSON.parse(text);
  }
}
