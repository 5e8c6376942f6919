// Stage 5 of 5: shape. A growing buffer for JSON in UTF-8. It does not check that the JSON is valid.
import type { AsciiToken } from "../plan/compile/compiled-plan.ts";

/** What `JSON.stringify` escapes, or may escape: quotes, backslashes, controls, and surrogates, which may be unpaired. */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const mayNeedEscape = /["\\\u0000-\u001f\ud800-\udfff]/;

/** V8 scans and copies longer texts faster: one call costs as much as some 20 characters in the loop. */
const loopedCharactersMax = 24;
/** As of characters; a copy needs no check. */
const loopedBytesMax = 64;

/** `\u0000`. */
const bytesPerUnitMax = 6;

const initialBytes = 65_536;
/** A longer buffer is freed after the response that needed it. */
const retainedBytesMax = 4_194_304;

/** Of a positive 32-bit integer. */
const digitsMax = 10;

/** Of an `AsciiToken`. */
const wordBytes = 4;

const zero = 0x30;
const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const firstBeyondAscii = 0x80;

/** Used for one response after the other, each written synchronously. Many short fields take half the time of concatenated strings. */
export class JsonBytes {
  #bytes = Buffer.allocUnsafeSlow(initialBytes);
  #view = viewOf(this.#bytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  rewind(length: number): void {
    this.#length = length;
  }

  /** @param text ASCII, written unescaped. */
  writeRaw(text: string): void {
    const count = text.length;
    if (this.#length + count > this.#bytes.length) this.#grow(count);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let i = 0; i < count; i++) bytes[at++] = text.charCodeAt(i);
    this.#length = at;
  }

  writeToken({ words, length }: AsciiToken): void {
    const wordCount = words.length;
    const bytesMax = wordCount * wordBytes;
    if (this.#length + bytesMax > this.#bytes.length) this.#grow(bytesMax);
    const view = this.#view;
    const start = this.#length;
    // The last word may extend beyond the token; the next write overwrites the excess. `true`: little-endian.
    for (let i = 0; i < wordCount; i++) view.setInt32(start + i * wordBytes, words[i] as number, true);
    this.#length = start + length;
  }

  /** -0 is written as 0, as `JSON.stringify` does. */
  writeInteger(value: number): void {
    if (value < 0) return this.writeRaw(String(value));
    if (this.#length + digitsMax > this.#bytes.length) this.#grow(digitsMax);
    const bytes = this.#bytes;
    // From the last digit to the first.
    let end = this.#length + 1;
    for (let limit = 10; limit <= value; limit *= 10) end++;
    this.#length = end;
    let rest = value;
    do {
      bytes[--end] = zero + (rest % 10);
      rest = Math.floor(rest / 10);
    } while (rest > 0);
  }

  writeJson(json: string): void {
    if (this.#length + json.length * bytesPerUnitMax > this.#bytes.length) this.#grow(json.length * bytesPerUnitMax);
    this.#length += this.#bytes.write(json, this.#length);
  }

  writeBytes(json: Uint8Array): void {
    if (this.#length + json.length > this.#bytes.length) this.#grow(json.length);
    this.#bytes.set(json, this.#length);
    this.#length += json.length;
  }

  /** @param start of the opening quote of a string without escapes. */
  writeSpan(source: Buffer, start: number): void {
    let end = start + 1;
    while (source[end] !== quote) end++;
    end++;
    const count = end - start;
    if (this.#length + count > this.#bytes.length) this.#grow(count);
    const bytes = this.#bytes;
    let at = this.#length;
    if (count > loopedBytesMax) source.copy(bytes, at, start, end);
    else for (let i = start; i < end; i++) bytes[at++] = source[i] as number;
    this.#length += count;
  }

  writeText(text: string): void {
    const count = text.length;
    const bytesMax = count * bytesPerUnitMax + 2;
    if (this.#length + bytesMax > this.#bytes.length) this.#grow(bytesMax);
    if (count > loopedCharactersMax) return this.#writeLongText(text);
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

  /** `writeText` has grown the buffer for it. */
  #writeLongText(text: string): void {
    const bytes = this.#bytes;
    if (mayNeedEscape.test(text)) {
      this.#length += bytes.write(JSON.stringify(text), this.#length);
      return;
    }
    bytes[this.#length++] = quote;
    this.#length += bytes.write(text, this.#length);
    bytes[this.#length++] = quote;
  }

  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    if (this.#bytes.length > retainedBytesMax) this.#use(Buffer.allocUnsafeSlow(initialBytes));
    return taken;
  }

  #grow(bytesMax: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + bytesMax));
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
