import { AppError, invalidInput, type Problem } from "@tributary/kit/errors/app-error";
import type { NewLine, Product } from "./model.ts";

interface PricedLine extends NewLine {
  readonly unitPriceMinor: number;
}

export interface PricedOrder {
  /** Sorted by sku. */
  readonly lines: readonly PricedLine[];
  readonly totalMinor: number;
  readonly currency: string;
}

/** The largest GraphQL Int, and PostgreSQL integer. */
export const totalMinorMax = 2_147_483_647;

interface OrderedProduct {
  readonly line: NewLine;
  readonly product: Product;
  /** The position of the line in the request, for problem pointers. */
  readonly index: number;
}

/**
 * Checks in this order that every sku exists, that all products have one currency, that the total is at most `totalMinorMax`, and that
 * enough is in stock. The first check that fails throws with all of its problems. Changes no stock.
 * @param products locked by the caller. @throws AppError BAD_USER_INPUT, OUT_OF_STOCK.
 */
export function priceOrder(lines: readonly NewLine[], products: readonly Product[]): PricedOrder {
  const ordered = requireProducts(lines, products);
  const currency = requireOneCurrency(ordered);
  const totalMinor = ordered.reduce((sum, { line, product }) => sum + line.quantity * product.priceMinor, 0);
  if (totalMinor > totalMinorMax) {
    const detail = `An order's total is at most ${totalMinorMax.toLocaleString("en")} of its currency's minor unit.`;
    throw invalidInput([{ pointer: "#/lines", code: "total", detail }]);
  }
  requireStock(ordered);
  const pricedLines = ordered.map(({ line, product }) => ({
    sku: line.sku,
    quantity: line.quantity,
    unitPriceMinor: product.priceMinor,
  }));
  pricedLines.sort((a, b) => (a.sku < b.sku ? -1 : 1));
  return { lines: pricedLines, totalMinor, currency };
}

/** Each line with its product. */
function requireProducts(lines: readonly NewLine[], products: readonly Product[]): readonly OrderedProduct[] {
  const bySku = new Map(products.map((product) => [product.sku, product]));
  const problems: Problem[] = [];
  const ordered: OrderedProduct[] = [];
  for (const [index, line] of lines.entries()) {
    const product = bySku.get(line.sku);
    if (product === undefined) {
      problems.push({ pointer: `#/lines/${index}/sku`, code: "unknown", detail: "There is no such product." });
    } else {
      ordered.push({ line, product, index });
    }
  }
  if (problems.length > 0) throw invalidInput(problems);
  return ordered;
}

function requireOneCurrency(ordered: readonly OrderedProduct[]): string {
  // `?? ""` is only for the type: an order has at least one line.
  const currency = ordered[0]?.product.currency ?? "";
  const inOtherCurrency = ordered.filter(({ product }) => product.currency !== currency);
  if (inOtherCurrency.length === 0) return currency;
  const problems = inOtherCurrency.map(({ product, index }) => ({
    pointer: `#/lines/${index}/sku`,
    code: "currency",
    detail: `This product is sold in ${product.currency}, the order's first product in ${currency}. An order has one currency.`,
  }));
  throw invalidInput(problems);
}

function requireStock(ordered: readonly OrderedProduct[]): void {
  const outOfStock = ordered.filter(({ line, product }) => product.stock < line.quantity);
  if (outOfStock.length === 0) return;
  const problems = outOfStock.map(({ product, index }) => ({
    pointer: `#/lines/${index}/quantity`,
    code: "out_of_stock",
    detail: product.stock === 0 ? "This product is out of stock." : `Only ${product.stock} are in stock.`,
  }));
  throw new AppError("OUT_OF_STOCK", "Not enough products are in stock for this order.", { problems });
}
