import { expect, test } from "vitest";
import { fingerprintOf } from "./idempotency.ts";
import { lockNumberOf } from "./idempotency-records.ts";

const same = (a: object, b: object) => fingerprintOf(a).equals(fingerprintOf(b));

test("a fingerprint ignores the sequence of members, and those that are null or undefined, at any depth", () => {
  expect(same({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toBe(true);
  expect(same({ a: 1, b: { c: null, d: undefined } }, { a: 1, b: {} })).toBe(true);
});

test("a fingerprint differs for other values, and for another sequence of a list", () => {
  const others = [{ a: 2 }, { a: "1" }, { b: 1 }, { a: 1, b: {} }, { a: 1, b: "" }, { a: [1] }, [{ a: 1 }]];
  for (const other of others) expect([other, same({ a: 1 }, other)]).toEqual([other, false]);
  expect(same({ list: [1, 2] }, { list: [2, 1] })).toBe(false);
  expect(same({ list: [null] }, { list: [] })).toBe(false);
});

test("the fingerprint of an input does not change between releases, which run at the same time", () => {
  expect(fingerprintOf([["COMPILER", 1]]).toString("hex")).toBe(
    "5b825bad9692a5e7fab2d87e169e5236d32b3fce67f8bc8daaa04bd8fd2c729d",
  );
  expect(fingerprintOf({ b: "x", a: { d: 1, c: [true] } }).toString("hex")).toBe(
    "485241823c75f7f0150eff59f48fed7720ee1d4c2abe6a6d665d9735e852c667",
  );
});

test("a key's lock number differs per caller, does not change between releases, and fits PostgreSQL's bigint", () => {
  expect(lockNumberOf({ callerId: "1", key: "1k" })).not.toBe(lockNumberOf({ callerId: "11", key: "k" }));
  const number = lockNumberOf({ callerId: "1", key: "k" });
  expect(number).toBe("5013768404130587771");
  expect(BigInt.asIntN(64, BigInt(number)).toString()).toBe(number);
});
