/** An amount in integer minor units of its currency (cents of EUR), 0 to 2^31 - 1. */
export interface Money {
  readonly amountMinor: number;
  /** Three capital letters (ISO 4217). */
  readonly currency: string;
}

const usualExponent = 2;

/** The currencies with other than two decimal places. */
const exponents: Readonly<Record<string, number>> = {
  ...withExponent(0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
  ...withExponent(3, "BHD IQD JOD KWD LYD OMR TND"),
  ...withExponent(4, "CLF UYW"),
};

/** ISO 4217, list one. Intl.NumberFormat deviates: 0 places for IQD (3 in the standard) and for HUF, LAK and COP (2). */
export function exponentOf(currency: string): number {
  return exponents[currency] ?? usualExponent;
}

function withExponent(exponent: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(" ").map((currency) => [currency, exponent]));
}

/** The amount as a decimal number with the currency's decimal places, as in REST version 1: `"12.99"`, `"1299"` for JPY. Rounds nothing. */
export function toDecimal({ amountMinor, currency }: Money): `${number}` {
  const exponent = exponentOf(currency);
  if (exponent === 0) return `${amountMinor}`;
  const digits = String(amountMinor).padStart(exponent + 1, "0");
  return `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}` as `${number}`;
}

export type MoneyFormat = ReturnType<typeof createMoneyFormat>;

/** In English: `€12.99`. Creating an Intl.NumberFormat is expensive. A new one beyond `formattersMax` empties the cache first. */
export function createMoneyFormat(options: { readonly formattersMax?: number } = {}) {
  const { formattersMax = 200 } = options;
  const formatters = new Map<string, Intl.NumberFormat>();

  function formatterOf(currency: string): Intl.NumberFormat {
    const cached = formatters.get(currency);
    if (cached) return cached;
    const exponent = exponentOf(currency);
    const formatter = new Intl.NumberFormat("en", {
      style: "currency",
      currency,
      minimumFractionDigits: exponent,
      maximumFractionDigits: exponent,
    });
    if (formatters.size >= formattersMax) formatters.clear();
    formatters.set(currency, formatter);
    return formatter;
  }

  return {
    display: (money: Money): string => formatterOf(money.currency).format(toDecimal(money)),
  };
}
