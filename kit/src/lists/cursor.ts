import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../errors/app-error.ts";

/** The start of a page: after the row `id` (`next`) or before it (`prev`). */
export interface CursorPosition {
  readonly direction: "next" | "prev";
  readonly id: string;
}

/** Writes and reads the cursors of GraphQL and REST lists: signed, not encrypted. A cursor is valid only for its `list` (from `nameList`). */
export interface Cursors {
  write(list: string, position: CursorPosition): string;
  /** @throws AppError INVALID_CURSOR for a cursor without a valid signature for this list. */
  read(list: string, cursor: string): CursorPosition;
}

const cursorCharsMax = 512;
const signatureBytes = 16;

/** @param keys at least one; the first signs, all verify. Every replica must have the same. */
export function createCursors(keys: readonly string[]): Cursors {
  const [signing] = keys;
  if (signing === undefined) throw new Error("createCursors needs at least one key");

  return {
    write(list, { direction, id }) {
      const text = `${direction === "next" ? "n" : "p"}${id}`;
      const payload = Buffer.from(text);
      return Buffer.concat([sign(signing, list, text), payload]).toString("base64url");
    },
    read(list, cursor) {
      const bytes = cursor.length <= cursorCharsMax ? Buffer.from(cursor, "base64url") : Buffer.alloc(0);
      const signature = bytes.subarray(0, signatureBytes);
      const text = bytes.subarray(signatureBytes).toString();
      // `Buffer.from` ignores invalid characters, so the second condition rejects other spellings of a cursor.
      const isValid =
        signature.length === signatureBytes &&
        bytes.toString("base64url") === cursor &&
        keys.some((key) => timingSafeEqual(signature, sign(key, list, text)));
      if (!isValid) throw new AppError("INVALID_CURSOR", "The cursor is not valid for this list and its filters.");
      return { direction: text.startsWith("n") ? "next" : "prev", id: text.slice(1) };
    },
  };
}

/** A text that identifies a list and its filters, whatever the order of `filters`. Filters that are null or undefined do not count. */
export function nameList(name: string, filters: Readonly<Record<string, string | undefined | null>>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== null);
  return JSON.stringify([name, ...given.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function sign(key: string, list: string, text: string): Buffer {
  return createHmac("sha256", key).update(`${list}\n${text}`).digest().subarray(0, signatureBytes);
}
