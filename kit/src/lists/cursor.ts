import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../errors/app-error.ts";

export interface CursorPosition {
  readonly direction: "next" | "prev";
  readonly id: string;
}

/** Signed, not encrypted. A cursor is valid only for its list (from `nameList`). */
export interface Cursors {
  write(listName: string, position: CursorPosition): string;
  /** @throws AppError INVALID_CURSOR. */
  read(listName: string, cursor: string): CursorPosition;
}

const cursorCharsMax = 512;
const signatureBytes = 16;

/** @param keys the first signs, all verify. Every replica must have the same. */
export function createCursors(keys: readonly string[]): Cursors {
  const [signingKey] = keys;
  if (signingKey === undefined) throw new Error("createCursors needs at least one key");

  return {
    write(listName, { direction, id }) {
      const positionText = `${direction === "next" ? "n" : "p"}${id}`;
      const signature = sign(signingKey, listName, positionText);
      return Buffer.concat([signature, Buffer.from(positionText)]).toString("base64url");
    },
    read(listName, cursor) {
      if (cursor.length > cursorCharsMax) throw invalidCursor();
      const bytes = Buffer.from(cursor, "base64url");
      // `Buffer.from` ignores invalid characters, so this rejects other spellings of a cursor.
      if (bytes.toString("base64url") !== cursor) throw invalidCursor();
      const signature = bytes.subarray(0, signatureBytes);
      if (signature.length < signatureBytes) throw invalidCursor();
      const positionText = bytes.subarray(signatureBytes).toString();
      const isSigned = keys.some((key) => timingSafeEqual(signature, sign(key, listName, positionText)));
      if (!isSigned) throw invalidCursor();
      return { direction: positionText.startsWith("n") ? "next" : "prev", id: positionText.slice(1) };
    },
  };
}

/** The order of `filters` does not matter. Filters that are null or undefined do not count. */
export function nameList(
  name: string,
  filters: Readonly<Record<string, string | number | boolean | undefined | null>>,
): string {
  const setFilters = Object.entries(filters).filter(([, value]) => value !== undefined && value !== null);
  const sortedFilters = setFilters.sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([name, ...sortedFilters]);
}

function sign(key: string, listName: string, positionText: string): Buffer {
  return createHmac("sha256", key).update(`${listName}\n${positionText}`).digest().subarray(0, signatureBytes);
}

function invalidCursor(): AppError {
  return new AppError("INVALID_CURSOR", "The cursor is not valid for this list and its filters.");
}
