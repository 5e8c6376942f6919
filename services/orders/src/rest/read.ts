import { AppError } from "@tributary/kit/errors";
import { requireBody } from "@tributary/kit/rest";
import { readShape } from "@tributary/kit/validate";
import { z } from "zod";
import { isIdempotencyKey, keyRule, linesOf, type NewOrder, quantity, sku } from "../model.ts";

const newOrderV1 = z.strictObject({ lines: linesOf(z.strictObject({ sku, qty: quantity })) });

/**
 * An order in the words of version 1, and its key from the header.
 * @throws AppError MALFORMED_REQUEST, BAD_USER_INPUT with every problem.
 */
export function readNewOrderV1(body: unknown, keyHeader: string | undefined): NewOrder {
  const idempotencyKey = readKey(keyHeader);
  const { lines } = readShape(newOrderV1, requireBody(body));
  return { lines: lines.map(({ sku, qty }) => ({ sku, quantity: qty })), idempotencyKey };
}

/** Node joins a header that comes twice with a comma and a space, and no key holds a space: so it is refused here too. */
function readKey(header: string | undefined): string | undefined {
  if (header === undefined || isIdempotencyKey(header)) return header;
  throw new AppError("MALFORMED_REQUEST", `${keyRule} Send the header Idempotency-Key once.`);
}

/** What is out of stock points at a line's `quantity`; version 1 calls it `qty`. */
export async function inWordsOfV1<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "OUT_OF_STOCK") throw error;
    const problems = (error.problems ?? []).map(({ pointer, code, detail }) => ({
      pointer: pointer.replace(/\/quantity$/, "/qty"),
      code,
      detail,
    }));
    throw new AppError(error.code, error.message, { problems });
  }
}

const nothing = z.strictObject({}).optional();

/** @throws AppError BAD_USER_INPUT for a body that says something. */
export const readNothing = (body: unknown): void => void readShape(nothing, body);
