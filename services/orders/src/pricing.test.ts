import { AppError } from "@tributary/kit/errors/app-error";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { NewLine, Product } from "./model.ts";
import { createMoneyFormat, exponentOf, toDecimal } from "./money.ts";
import { priceOrder, totalMinorMax } from "./pricing.ts";

test("priced lines are sorted by sku, with the current price", () => {
  const priced = priceOrder(
    [line("b", 2), line("a", 1)],
    [product("a", { priceMinor: 5 }), product("b", { priceMinor: 7 })],
  );
  expect(priced).toEqual({
    currency: "EUR",
    totalMinor: 19,
    lines: [
      { sku: "a", quantity: 1, unitPriceMinor: 5 },
      { sku: "b", quantity: 2, unitPriceMinor: 7 },
    ],
  });
});

test("an order has one currency, the first line's", () => {
  const products = [product("a"), product("b", { currency: "JPY" }), product("c"), product("d", { currency: "USD" })];
  const refusal = refusalOf(
    ["a", "b", "c", "d"].map((sku) => line(sku, 1)),
    products,
  );
  expect(refusal).toEqual(["BAD_USER_INPUT", ["#/lines/1/sku currency", "#/lines/3/sku currency"]]);
});

test("every line with too little stock is reported", () => {
  const products = [product("a", { stock: 0 }), product("b", { stock: 2 }), product("c", { stock: 1 })];
  const refusal = refusalOf([line("a", 1), line("b", 2), line("c", 2)], products);
  expect(refusal).toEqual(["OUT_OF_STOCK", ["#/lines/0/quantity out_of_stock", "#/lines/2/quantity out_of_stock"]]);
});

test("a total is exact or rejected, for any lines", () => {
  const prices = fc.array(fc.tuple(fc.nat(totalMinorMax), fc.integer({ min: 1, max: 99 })), {
    minLength: 1,
    maxLength: 50,
  });
  fc.assert(
    fc.property(prices, (chosen) => {
      const products = chosen.map(([priceMinor], index) => product(`p${index}`, { priceMinor }));
      const lines = chosen.map(([, quantity], index) => line(`p${index}`, quantity));
      const exact = chosen.reduce((sum, [price, quantity]) => sum + BigInt(price) * BigInt(quantity), 0n);
      if (exact > BigInt(totalMinorMax))
        expect(refusalOf(lines, products)).toEqual(["BAD_USER_INPUT", ["#/lines total"]]);
      else expect(BigInt(priceOrder(lines, products).totalMinor)).toBe(exact);
    }),
  );
});

test("the largest total can be ordered", () => {
  expect(priceOrder([line("a", 1)], [product("a", { priceMinor: totalMinorMax })]).totalMinor).toBe(totalMinorMax);
});

test("a currency has the decimal places of ISO 4217", () => {
  const places = {
    EUR: 2,
    USD: 2,
    GBP: 2,
    JPY: 0,
    KRW: 0,
    ISK: 0,
    KWD: 3,
    BHD: 3,
    IQD: 3,
    CLF: 4,
    HUF: 2,
    LAK: 2,
    COP: 2,
  };
  expect(Object.keys(places).map((currency) => [currency, exponentOf(currency)])).toEqual(Object.entries(places));
});

test("an amount is formatted for its currency", () => {
  const { display } = createMoneyFormat();
  expect(display({ amountMinor: 1299, currency: "EUR" })).toBe("€12.99");
  expect(display({ amountMinor: 1299, currency: "JPY" })).toBe("¥1,299");
  expect(display({ amountMinor: 1299, currency: "KWD" })).toBe("KWD\u00a01.299");
  expect(display({ amountMinor: 1299, currency: "HUF" })).toBe("HUF\u00a012.99");
  expect(display({ amountMinor: 2_147_483_647, currency: "USD" })).toBe("$21,474,836.47");
  expect(display({ amountMinor: 0, currency: "EUR" })).toBe("€0.00");
});

test("evicted formatters are created again", () => {
  const { display } = createMoneyFormat({ formattersMax: 1 });
  const output = ["EUR", "JPY", "EUR"].map((currency) => display({ amountMinor: 5, currency }));
  expect(output).toEqual(["€0.05", "¥5", "€0.05"]);
});

test("a decimal has exactly the currency's decimal places and is exact", () => {
  const currency = fc.constantFrom("EUR", "JPY", "KWD", "CLF");
  fc.assert(
    fc.property(fc.nat(2_147_483_647), currency, (amountMinor, currency) => {
      const decimal = toDecimal({ amountMinor, currency });
      const [whole = "", fraction = ""] = decimal.split(".");
      expect(fraction).toHaveLength(exponentOf(currency));
      expect(whole).toMatch(/^(0|[1-9]\d*)$/);
      expect(Number(whole + fraction)).toBe(amountMinor);
    }),
  );
});

function line(sku: string, quantity: number): NewLine {
  return { sku, quantity };
}

function product(sku: string, fields: Partial<Product> = {}): Product {
  return { sku, title: sku, priceMinor: 100, currency: "EUR", stock: 99, postId: null, rowVersion: "1", ...fields };
}

function refusalOf(lines: readonly NewLine[], products: readonly Product[]) {
  try {
    return priceOrder(lines, products);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [error.code, error.problems?.map(({ pointer, code }) => `${pointer} ${code}`)];
  }
}
