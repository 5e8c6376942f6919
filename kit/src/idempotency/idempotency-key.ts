import { z } from "zod";
import { AppError } from "../errors/app-error.ts";

const keyPattern = /^[!-~]{1,255}$/;
const keyRule = "An idempotency key has 1 to 255 visible ASCII characters.";
const quotedString = /^"((?:[^"\\]|\\["\\])+)"$/;
const escapedCharacter = /\\(["\\])/g;

export const idempotencyKeyInput = z
  .string(keyRule)
  .regex(keyPattern, keyRule)
  .nullish()
  .transform((key) => key ?? undefined);

/**
 * Quoted (RFC 9651, 3.3.3; draft-ietf-httpapi-idempotency-key-header-07, 2.1), or without quotes, as most clients send it. Node joins the
 * values of a repeated header by a comma and a space, and keys have no spaces. @throws AppError MALFORMED_REQUEST.
 */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = header.startsWith('"') ? readQuoted(header) : header;
  if (key !== undefined && keyPattern.test(key)) return key;
  throw new AppError("MALFORMED_REQUEST", `${keyRule} Send the header Idempotency-Key once.`);
}

function readQuoted(text: string): string | undefined {
  const [, content] = quotedString.exec(text) ?? [];
  return content?.replaceAll(escapedCharacter, "$1");
}

/** Marks a REST response as the result of an earlier request. */
export function toReplayHeaders(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { "Idempotency-Replayed": "true" } : {};
}
