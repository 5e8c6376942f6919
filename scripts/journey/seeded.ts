import { commentsTable, countsAt } from "../seed/population.ts";

/** Who writes, of the seeded users. */
export const writerId = "1";

/** All of the seeded ones are active. */
export function userAt(count: number): string {
  return String(1 + (count % 1_000));
}

/** Of each hundred seeded posts the first six are published. */
export function postAt(count: number): string {
  return String(1 + 100 * (count % 100) + (Math.floor(count / 100) % 6));
}

/** All but the deleted ones. */
export function commentAt(count: number): string {
  living ??= readLivingComments();
  return living[count % living.length] ?? "";
}

const livingMax = 1_000;
let living: readonly string[] | undefined;

function readLivingComments(): readonly string[] {
  const { columns, rows } = commentsTable(countsAt(1));
  const body = columns.indexOf("body");
  // Their ids count from 1.
  const ids = Iterator.from(rows()).flatMap((row, index) => (row[body] === null ? [] : [String(index + 1)]));
  return [...ids.take(livingMax)];
}

/** There are 200, each with 50 in stock at least. */
export function skuAt(count: number): string {
  return `PRINT-${String(1 + (count % 200)).padStart(4, "0")}`;
}

/** Of a list, so that its answer is another's as seldom as may be. */
export function limitAt(count: number): number {
  return 1 + (count % 20);
}
