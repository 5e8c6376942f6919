// What store.ts stores and locks for an idempotency key, so that a repeated request returns the order that the first one placed. For how long:
// `idempotencyHours` in model.ts.
import { createHash } from "node:crypto";
import type { NewLine, PlacedOrder } from "./model.ts";

/** SHA-256 of the order lines (distinct skus), sorted by sku: the same for both REST versions and GraphQL, whatever the sequence of the lines in the request. */
export function fingerprintOf(lines: readonly NewLine[]): Buffer {
  const canonical = lines.map(({ sku, quantity }) => [sku, quantity] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(canonical)).digest();
}

/** The 64-bit id of the PostgreSQL advisory lock for a customer's key: the first 64 bits of a hash, so collisions are negligible. The worst that one causes is IDEMPOTENCY_KEY_IN_FLIGHT. */
export function lockNumberOf(customerId: string, key: string): string {
  return createHash("sha256").update(`idempotency\n${customerId}\n${key}`).digest().readBigInt64BE().toString();
}

/** A placed order as `JSON.stringify` stores it: `placedAt` is a string. */
export type Snapshot = Omit<PlacedOrder, "order"> & {
  readonly order: Omit<PlacedOrder["order"], "placedAt"> & { readonly placedAt: string };
};

/** The placed order of a stored snapshot. */
export function readSnapshot({ order, lines, products }: Snapshot): PlacedOrder {
  return { order: { ...order, placedAt: new Date(order.placedAt) }, lines, products };
}
