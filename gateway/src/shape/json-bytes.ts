// Stage 5 of 5: say it. JSON under way, as the bytes it will be.
import type { AsciiToken } from "../plan/compile/compiled-plan.ts";

/** What JSON writes otherwise than it is: quotes, backslashes, controls, and surrogates, of which one may stand alone. */
// oxlint-disable-next-line no-control-regex -- controls are what is looked for
const escaped = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Longer texts are scanned and copied faster by V8 itself: each call of it costs what some 20 characters cost here. */
const copiedCharactersMax = 24;

/** Bytes that one UTF-16 unit of a text takes at most, as `\u0000`. */
const bytesPerUnitMax = 6;

const bytesAtFirst = 65_536;
/** A longer buffer is given up after the answer that needed it. */
const keptBytesMax = 4_194_304;

/** Of a whole number of 32 bits. */
const digitsMax = 10;

const zero = 0x30;
const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const firstBeyondAscii = 0x80;

/**
 * One buffer for answer after answer, since each is written in one go: no text is built that would only be copied and collected. Half the
 * time of concatenated strings on an answer of many short fields.
 */
export class JsonBytes {
  #bytes = Buffer.allocUnsafeSlow(bytesAtFirst);
  #view = viewOf(this.#bytes);
  #length = 0;

  /** How much is written; what was written after an earlier length is taken back by `rewind`. */
  get length(): number {
    return this.#length;
  }

  rewind(length: number): void {
    this.#length = length;
  }

  /** ASCII, written as it is. */
  writeRaw(text: string): void {
    const count = text.length;
    if (this.#length + count > this.#bytes.length) this.#grow(count);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < count; i++) bytes[at++] = text.charCodeAt(i);
    this.#length = at;
  }

  writeToken({ words, length }: AsciiToken): void {
    const count = words.length;
    if (this.#length + count * 4 > this.#bytes.length) this.#grow(count * 4);
    const view = this.#view;
    const at = this.#length;
    // The last word may reach too far; what follows is written over it.
    for (let i = 0; i < count; i++) view.setInt32(at + i * 4, words[i] as number, true);
    this.#length = at + length;
  }

  /** @param value of 32 bits; a -0 is a 0, as in JSON. */
  writeInteger(value: number): void {
    if (value < 0) return this.writeRaw(String(value));
    if (this.#length + digitsMax > this.#bytes.length) this.#grow(digitsMax);
    const bytes = this.#bytes;
    let end = this.#length + 1;
    for (let limit = 10; limit <= value; limit *= 10) end++;
    this.#length = end;
    let rest = value;
    do {
      bytes[--end] = zero + (rest % 10);
      rest = Math.floor(rest / 10);
    } while (rest > 0);
  }

  /** Any JSON. */
  writeJson(json: string): void {
    if (this.#length + json.length * bytesPerUnitMax > this.#bytes.length) this.#grow(json.length * bytesPerUnitMax);
    this.#length += this.#bytes.write(json, this.#length);
  }

  /** Any JSON in UTF-8. */
  writeBytes(json: Uint8Array): void {
    if (this.#length + json.length > this.#bytes.length) this.#grow(json.length);
    this.#bytes.set(json, this.#length);
    this.#length += json.length;
  }

  /** Any text as a JSON string. */
  writeText(text: string): void {
    const count = text.length;
    const room = count * bytesPerUnitMax + 2;
    if (this.#length + room > this.#bytes.length) this.#grow(room);
    if (count > copiedCharactersMax) return this.#writeLongText(text);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quote;
    for (let i = 0; i < count; i++) {
      const unit = text.charCodeAt(i);
      if (unit < space || unit === quote || unit === backslash || unit >= firstBeyondAscii) {
        return this.#writeLongText(text);
      }
      bytes[at++] = unit;
    }
    bytes[at++] = quote;
    this.#length = at;
  }

  /** Where there is room. */
  #writeLongText(text: string): void {
    const bytes = this.#bytes;
    if (escaped.test(text)) {
      this.#length += bytes.write(JSON.stringify(text), this.#length);
      return;
    }
    bytes[this.#length++] = quote;
    this.#length += bytes.write(text, this.#length);
    bytes[this.#length++] = quote;
  }

  /** A copy of all that is written; then nothing is. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    if (this.#bytes.length > keptBytesMax) this.#use(Buffer.allocUnsafeSlow(bytesAtFirst));
    return taken;
  }

  #grow(room: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + room));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#use(grown);
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer<ArrayBuffer>): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
