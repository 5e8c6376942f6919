// Ids of seeded rows (scale 1) by request number, so that successive requests use different rows. scripts/seed/population.ts determines the
// rows.
import { commentsTable, countsAt } from "../../seed/population.ts";

/** The id of the seeded user who writes. */
export const writerId = "1";

/** The id of a seeded user. All seeded users are active. */
export function userAt(count: number): string {
  return String(1 + (count % 1_000));
}

/** The id of a published post: the first six posts of every hundred are always published. */
export function postAt(count: number): string {
  return String(1 + 100 * (count % 100) + (Math.floor(count / 100) % 6));
}

/** The id of a seeded comment that is not deleted. */
export function commentAt(count: number): string {
  existingComments ??= readExistingComments();
  return existingComments[count % existingComments.length] ?? "";
}

const existingCommentsMax = 1_000;
let existingComments: readonly string[] | undefined;

function readExistingComments(): readonly string[] {
  const { columns, rows } = commentsTable(countsAt(1));
  const body = columns.indexOf("body");
  // Ids start at 1.
  const ids = Iterator.from(rows()).flatMap((row, index) => (row[body] === null ? [] : [String(index + 1)]));
  return [...ids.take(existingCommentsMax)];
}

/** The SKU of a seeded product. There are 200, each with a stock of at least 50. */
export function skuAt(count: number): string {
  return `PRINT-${String(1 + (count % 200)).padStart(4, "0")}`;
}

/** The limit of a list request. It varies, so that few requests can use the same cached response. */
export function limitAt(count: number): number {
  return 1 + (count % 20);
}
