import { createHash } from "node:crypto";
import type { NewLine, PlacedOrder } from "./model.ts";

/** SHA-256 of what an order asks for, however a door spells it and in whatever order its lines come. */
export function fingerprintOf(lines: readonly NewLine[]): Buffer {
  const canonical = lines.map(({ sku, quantity }) => [sku, quantity] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(canonical)).digest();
}

/** The number of PostgreSQL's advisory lock for a customer's key: 64 bits of a hash, so two keys meet by chance never. */
export function lockNumberOf(customerId: string, key: string): string {
  return createHash("sha256").update(`idempotency\n${customerId}\n${key}`).digest().readBigInt64BE().toString();
}

/** What JSON has made of a placed order. */
export type Snapshot = Omit<PlacedOrder, "order"> & {
  readonly order: Omit<PlacedOrder["order"], "placedAt"> & { readonly placedAt: string };
};

export function readSnapshot({ order, lines, products }: Snapshot): PlacedOrder {
  return { order: { ...order, placedAt: new Date(order.placedAt) }, lines, products };
}
