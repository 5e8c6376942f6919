import { expect, test } from "vitest";
import { fingerprintOf, lockNumberOf, readSnapshot } from "./idempotency.ts";

const notes = { sku: "NOTES", quantity: 1 };
const compiler = { sku: "COMPILER", quantity: 2 };

test("a fingerprint depends on everything except the sequence of the lines", () => {
  const print = fingerprintOf([notes, compiler]);
  expect(fingerprintOf([compiler, notes])).toEqual(print);
  expect(fingerprintOf([notes])).not.toEqual(print);
  expect(fingerprintOf([notes, { ...compiler, quantity: 3 }])).not.toEqual(print);
});

test("a key's lock number differs per customer, and fits PostgreSQL's bigint", () => {
  expect(lockNumberOf("1", "k")).toBe(lockNumberOf("1", "k"));
  expect(lockNumberOf("1", "1k")).not.toBe(lockNumberOf("11", "k"));
  expect(BigInt.asIntN(64, BigInt(lockNumberOf("1", "k"))).toString()).toBe(lockNumberOf("1", "k"));
});

test("a snapshot survives JSON unchanged", () => {
  const order = {
    id: "0190b5f0-0000-7000-8000-000000000000",
    customerId: "1",
    status: "PLACED",
    totalMinor: 1,
    currency: "EUR",
    placedAt: new Date("2026-01-31T09:30:00.123Z"),
    rowVersion: "1",
  } as const;
  const placed = { order, lines: [], products: [] };
  expect(readSnapshot(JSON.parse(JSON.stringify(placed)))).toEqual(placed);
});
