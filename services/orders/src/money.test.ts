import fc from "fast-check";
import { expect, test } from "vitest";
import { createMoneyFormat, exponentOf, toDecimal } from "./money.ts";

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

test("Intl agrees for currencies in which it follows the standard", () => {
  for (const currency of ["EUR", "USD", "GBP", "CHF", "JPY", "KRW", "VND", "KWD", "TND", "CLF"]) {
    const { maximumFractionDigits } = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
    expect([currency, exponentOf(currency)]).toEqual([currency, maximumFractionDigits]);
  }
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
