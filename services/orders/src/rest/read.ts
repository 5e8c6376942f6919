import { AppError } from "@tributary/kit/errors/app-error";
import { requireBody } from "@tributary/kit/rest/rest-endpoint";
import { readShape } from "@tributary/kit/errors/validate";
import { z } from "zod";
import { isIdempotencyKey, keyRule, linesOf, type NewOrder, quantity, sku } from "../model.ts";

const newOrderV1 = z.strictObject({ lines: linesOf(z.strictObject({ sku, qty: quantity })) });
const newOrderV2 = z.strictObject({ lines: linesOf(z.strictObject({ sku, quantity })) });

/**
 * An order in the words of version 1, and its key from the header, if there is one.
 * @throws AppError MALFORMED_REQUEST, BAD_USER_INPUT with every problem.
 */
export function readNewOrderV1(body: unknown, keyHeader: string | undefined): NewOrder {
  const idempotencyKey = keyHeader === undefined ? undefined : readKey(keyHeader);
  const { lines } = readShape(newOrderV1, requireBody(body));
  return { lines: lines.map(({ sku, qty }) => ({ sku, quantity: qty })), idempotencyKey };
}

/**
 * An order in the words of version 2, and its key from the header. Nobody should have to find out whether an order was placed whose
 * answer got lost: without a key it is not begun.
 * @throws AppError MALFORMED_REQUEST, BAD_USER_INPUT with every problem.
 */
export function readNewOrderV2(body: unknown, keyHeader: string | undefined): NewOrder {
  if (keyHeader === undefined) {
    const message =
      "Send the header Idempotency-Key, with a key of your own for each order: then it may be sent again.";
    throw new AppError("MALFORMED_REQUEST", message);
  }
  const idempotencyKey = readKey(keyHeader);
  return { ...readShape(newOrderV2, requireBody(body)), idempotencyKey };
}

/**
 * A key is a string of structured fields, in quotes (RFC 9651, 3.3.3; draft-ietf-httpapi-idempotency-key-header-07, 2.1), or stands bare,
 * as most clients send it: both are the same key, which is the one that the graph is given. Node joins a header that comes twice with a
 * comma and a space, and no key holds a space: so it is refused here too.
 */
function readKey(header: string): string {
  const quoted = /^"((?:[^"\\]|\\["\\])+)"$/.exec(header)?.[1]?.replaceAll(/\\(["\\])/g, "$1");
  const key = quoted ?? header;
  if (isIdempotencyKey(key)) return key;
  throw new AppError("MALFORMED_REQUEST", `${keyRule} Send the header Idempotency-Key once.`);
}

/** What is out of stock points at a line's `quantity`; a version may have another name for it. */
export async function inWordsOf<T>(quantityName: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "OUT_OF_STOCK") throw error;
    const problems = (error.problems ?? []).map(({ pointer, code, detail }) => ({
      pointer: pointer.replace(/\/quantity$/, `/${quantityName}`),
      code,
      detail,
    }));
    throw new AppError(error.code, error.message, { problems });
  }
}

const nothing = z.strictObject({}).optional();

/** @throws AppError BAD_USER_INPUT for a body that says something. */
export const readNothing = (body: unknown): void => void readShape(nothing, body);
