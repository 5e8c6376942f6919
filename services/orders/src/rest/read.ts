import { AppError } from "@tributary/kit/errors/app-error";
import { readIdempotencyKey } from "@tributary/kit/idempotency/idempotency-key";
import { requireBody } from "@tributary/kit/rest/body";
import { parseShape } from "@tributary/kit/errors/validate";
import { z } from "zod";
import { linesOf, type NewOrder, quantity, sku } from "../model.ts";

const newOrderV1 = z.strictObject({ lines: linesOf(z.strictObject({ sku, qty: quantity })) });
const newOrderV2 = z.strictObject({ lines: linesOf(z.strictObject({ sku, quantity })) });

export type NewOrderV1 = z.input<typeof newOrderV1>;
export type NewOrderV2 = z.input<typeof newOrderV2>;

/** The key is optional. @throws AppError MALFORMED_REQUEST, BAD_USER_INPUT with every problem. */
export function readNewOrderV1(body: unknown, keyHeader: string | undefined): NewOrder {
  const idempotencyKey = readIdempotencyKey(keyHeader);
  const { lines } = parseShape(newOrderV1, requireBody(body));
  return { lines: lines.map((line) => ({ sku: line.sku, quantity: line.qty })), idempotencyKey };
}

/**
 * Reads an order in version 2, and its idempotency key from the header. The key is required, so that a client that gets no response can
 * always send the request again.
 * @throws AppError MALFORMED_REQUEST, BAD_USER_INPUT with every problem.
 */
export function readNewOrderV2(body: unknown, keyHeader: string | undefined): NewOrder {
  const idempotencyKey = readIdempotencyKey(keyHeader);
  if (idempotencyKey === undefined) {
    const message =
      "Send the header Idempotency-Key with a new key for each order. Then the request can be retried safely.";
    throw new AppError("MALFORMED_REQUEST", message);
  }
  const { lines } = parseShape(newOrderV2, requireBody(body));
  return { lines, idempotencyKey };
}

/** The problems of OUT_OF_STOCK point to `quantity`, the model's name, which is replaced by the version's. */
export async function withQuantityName<T>(quantityName: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError && error.code === "OUT_OF_STOCK") throw renameQuantity(error, quantityName);
    throw error;
  }
}

const quantityPointerEnd = /\/quantity$/;

function renameQuantity(error: AppError, quantityName: string): AppError {
  const problems = (error.problems ?? []).map(({ pointer, code, detail }) => ({
    pointer: pointer.replace(quantityPointerEnd, `/${quantityName}`),
    code,
    detail,
  }));
  return new AppError(error.code, error.message, { problems });
}

const emptyBody = z.strictObject({}).optional();

/** Accepts no body, or an empty object. @throws AppError BAD_USER_INPUT for any other body. */
export function requireEmptyBody(body: unknown): void {
  parseShape(emptyBody, body);
}
