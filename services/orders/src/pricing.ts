import { AppError, invalidInput, type Problem } from "@tributary/kit/errors/app-error";
import type { NewLine, Product } from "./model.ts";

interface PricedLine extends NewLine {
  readonly unitPriceMinor: number;
}

export interface PricedOrder {
  /** By sku. */
  readonly lines: readonly PricedLine[];
  readonly totalMinor: number;
  readonly currency: string;
}

/** What GraphQL's Int and the column hold. */
export const totalMinorMax = 2_147_483_647;

interface Choice {
  readonly line: NewLine;
  readonly product: Product;
  readonly index: number;
}

/**
 * What the lines cost, by products whose rows are locked: every sku is known, one currency, enough in stock.
 * @throws AppError BAD_USER_INPUT, OUT_OF_STOCK, with a problem for each line that is to blame.
 */
export function priceOrder(lines: readonly NewLine[], products: readonly Product[]): PricedOrder {
  const choices = chooseProducts(lines, products);
  const currency = requireOneCurrency(choices);
  const totalMinor = choices.reduce((sum, { line, product }) => sum + line.quantity * product.priceMinor, 0);
  if (totalMinor > totalMinorMax) {
    const detail = `An order's total is at most ${totalMinorMax.toLocaleString("en")} of its currency's minor unit.`;
    throw invalidInput([{ pointer: "#/lines", code: "total", detail }]);
  }
  requireStock(choices);
  const priced = choices.map(({ line: { sku, quantity }, product }) => ({
    sku,
    quantity,
    unitPriceMinor: product.priceMinor,
  }));
  return { lines: priced.sort((a, b) => (a.sku < b.sku ? -1 : 1)), totalMinor, currency };
}

function chooseProducts(lines: readonly NewLine[], products: readonly Product[]): readonly Choice[] {
  const bySku = new Map(products.map((product) => [product.sku, product]));
  const problems: Problem[] = [];
  const choices: Choice[] = [];
  for (const [index, line] of lines.entries()) {
    const product = bySku.get(line.sku);
    if (product) choices.push({ line, product, index });
    else problems.push({ pointer: `#/lines/${index}/sku`, code: "unknown", detail: "There is no such product." });
  }
  if (problems.length > 0) throw invalidInput(problems);
  return choices;
}

function requireOneCurrency(choices: readonly Choice[]): string {
  const currency = choices[0]?.product.currency ?? "";
  const others = choices.filter(({ product }) => product.currency !== currency);
  if (others.length === 0) return currency;
  throw invalidInput(
    others.map(({ product, index }) => ({
      pointer: `#/lines/${index}/sku`,
      code: "currency",
      detail: `It is sold in ${product.currency}, and the order's first product in ${currency}: one order, one currency.`,
    })),
  );
}

function requireStock(choices: readonly Choice[]): void {
  const short = choices.filter(({ line, product }) => product.stock < line.quantity);
  if (short.length === 0) return;
  const problems = short.map(({ product, index }) => ({
    pointer: `#/lines/${index}/quantity`,
    code: "out_of_stock",
    detail: product.stock === 0 ? "There is none left." : `There are only ${product.stock} left.`,
  }));
  throw new AppError("OUT_OF_STOCK", "There is not enough in stock for this order.", { problems });
}
