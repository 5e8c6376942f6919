// Reads idempotency keys for the services: from a GraphQL input (model.ts) and from the header `Idempotency-Key` (the files in rest/).
import { z } from "zod";
import { AppError } from "../errors/app-error.ts";

const keyPattern = /^[!-~]{1,255}$/;
const keyRule = "An idempotency key has 1 to 255 visible ASCII characters.";
const quotedString = /^"((?:[^"\\]|\\["\\])+)"$/;
const escapedCharacter = /\\(["\\])/g;

/** The schema of the field `idempotencyKey` of a GraphQL input. */
export const idempotencyKeyInput = z
  .string(keyRule)
  .regex(keyPattern, keyRule)
  .nullish()
  .transform((key) => key ?? undefined);

/**
 * Reads the header `Idempotency-Key` as a quoted string (RFC 9651, 3.3.3; draft-ietf-httpapi-idempotency-key-header-07, 2.1), or without quotes, as
 * most clients send it; both are the same key. A repeated header is rejected: Node joins its values by a comma and a space, and keys have no spaces.
 * @returns undefined without the header.
 * @throws AppError MALFORMED_REQUEST.
 */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = header.startsWith('"') ? readQuoted(header) : header;
  if (key !== undefined && keyPattern.test(key)) return key;
  throw new AppError("MALFORMED_REQUEST", `${keyRule} Send the header Idempotency-Key once.`);
}

/** Undefined for a string that does not end with a quote, or has a wrong escape. */
function readQuoted(text: string): string | undefined {
  const [, content] = quotedString.exec(text) ?? [];
  return content?.replaceAll(escapedCharacter, "$1");
}

/** The header that marks a REST response as the result of an earlier request with the same key. Empty for the first request. */
export function toReplayHeaders(replayed: boolean): Readonly<Record<string, string>> {
  return replayed ? { "Idempotency-Replayed": "true" } : {};
}
