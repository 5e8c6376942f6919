// The running service imports only the types. `documentsRequestBody` compares each schema with the type in read.ts, at compile time.
import { opaqueId, responseText, timestamp, wholeNumber } from "@tributary/kit/openapi/schemas";
import { documentsRequestBody } from "@tributary/kit/rest/documented-bodies";
import { z } from "zod";
import { orderStatuses } from "../model.ts";
import type { NewOrderV1, NewOrderV2 } from "./read.ts";

/** The largest PostgreSQL integer. */
const integerMax = 2_147_483_647;
/** The limits of model.ts. */
const linesMax = 50;
const quantityMax = 99;

export const sku = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
  .meta({ description: "The product's stock keeping unit, its key in the catalogue.", examples: ["PRINT-0001"] });
const currency = z
  .string()
  .length(3)
  .regex(/^[A-Z]{3}$/)
  .meta({ description: "An ISO 4217 currency code.", examples: ["EUR"] });
/** No currency has one decimal place (money.ts). */
const decimal = z
  .string()
  .max(16)
  .regex(/^(?:0|[1-9]\d*)(?:\.\d{2,4})?$/)
  .meta({ description: "A decimal number with the currency's decimal places.", examples: ["12.99"] });
const money = z
  .strictObject({
    amountMinor: wholeNumber(0, integerMax).meta({ description: "Whole minor units, such as cents." }),
    currency,
  })
  .meta({ id: "Money" });
const quantity = wholeNumber(1, quantityMax).meta({ description: "The number of pieces." });
export const status = z.enum(orderStatuses);
export const orderId = z
  .string()
  .length(36)
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  .meta({ description: "The order's id.", format: "uuid", examples: ["019c4a5e-8c00-7c1d-9f3a-2b6d7e8f9a0b"] });

/** Rules that JSON Schema cannot express. */
const linesRule =
  "Each product has at most one line, all products have the same currency, and the total is at most 2,147,483,647 minor units; otherwise the response is 422.";

const orderFields = {
  id: orderId,
  customerId: opaqueId("The user who placed it.", "1"),
  status,
  placedAt: timestamp("When the order was placed."),
};
const productFields = {
  sku,
  title: responseText(200, "A print"),
  stock: wholeNumber(0, integerMax).meta({ description: "The number of pieces in stock." }),
  postId: opaqueId("The post that this product is a print edition of.", "1").nullable(),
};

export const orderV1 = z
  .strictObject({
    ...orderFields,
    total: decimal,
    currency,
    lines: z.array(z.strictObject({ sku, qty: quantity, unitPrice: decimal })).max(linesMax),
  })
  .meta({ id: "Order" });
export type OrderV1 = z.output<typeof orderV1>;

export const orderV2 = z
  .strictObject({
    ...orderFields,
    total: money,
    lines: z.array(z.strictObject({ sku, quantity, unitPrice: money })).max(linesMax),
  })
  .meta({ id: "Order" });
export type OrderV2 = z.output<typeof orderV2>;

export const productV1 = z.strictObject({ ...productFields, price: decimal, currency }).meta({ id: "Product" });
export type ProductV1 = z.output<typeof productV1>;

export const productV2 = z.strictObject({ ...productFields, price: money }).meta({ id: "Product" });
export type ProductV2 = z.output<typeof productV2>;

export const newOrderV1 = documentsRequestBody<NewOrderV1>()(newOrderOf(z.strictObject({ sku, qty: quantity })));

export const newOrderV2 = documentsRequestBody<NewOrderV2>()(newOrderOf(z.strictObject({ sku, quantity })));

function newOrderOf<Line extends z.ZodType>(line: Line) {
  return z
    .strictObject({ lines: z.array(line).min(1).max(linesMax).meta({ description: linesRule }) })
    .meta({ id: "NewOrder" });
}
