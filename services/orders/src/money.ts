/** Integer minor units of a currency; 0 to 2^31 - 1 here. */
export interface Money {
  readonly amountMinor: number;
  /** Three capital letters (ISO 4217). */
  readonly currency: string;
}

/**
 * The decimal places of a currency: its minor unit in ISO 4217, list one, where that is not 2. Intl knows them too, but by custom
 * rather than by the standard: it says 0 for IQD (3), and for HUF, LAK and COP (2).
 */
export function exponentOf(currency: string): number {
  return exponents[currency] ?? 2;
}

const exponents: Readonly<Record<string, number>> = {
  ...withExponent(0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"),
  ...withExponent(3, "BHD IQD JOD KWD LYD OMR TND"),
  ...withExponent(4, "CLF UYW"),
};

function withExponent(exponent: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(" ").map((currency) => [currency, exponent]));
}

/** The amount as a decimal number with exactly the currency's places: `"12.99"`, `"1299"` for JPY. Computed on digits, never rounded. */
export function toDecimal({ amountMinor, currency }: Money): `${number}` {
  const exponent = exponentOf(currency);
  if (exponent === 0) return `${amountMinor}`;
  const digits = String(amountMinor).padStart(exponent + 1, "0");
  return `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}` as `${number}`;
}

export type MoneyFormat = ReturnType<typeof createMoneyFormat>;

/** Writes amounts for people, in English: `€12.99`. Making a formatter costs more than using it, so some are kept. */
export function createMoneyFormat(options: { readonly formattersMax?: number } = {}) {
  const { formattersMax = 200 } = options;
  const kept = new Map<string, Intl.NumberFormat>();

  function formatterOf(currency: string): Intl.NumberFormat {
    const known = kept.get(currency);
    if (known) return known;
    const places = exponentOf(currency);
    const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
    const formatter = new Intl.NumberFormat("en", { style: "currency", currency, ...digits });
    if (kept.size >= formattersMax) kept.clear();
    kept.set(currency, formatter);
    return formatter;
  }

  return {
    display: (money: Money): string => formatterOf(money.currency).format(toDecimal(money)),
  };
}
