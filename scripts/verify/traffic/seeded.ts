// Ids of seeded rows (scripts/seed/population.ts, scale 1) by request number, so that successive requests use different rows.
import { commentsTable, countsAt } from "../../seed/population.ts";

/** The id of the seeded user who writes. */
export const writerId = "1";

export function userAt(requestNumber: number): string {
  return String(1 + (requestNumber % 1_000));
}

/** The id of a published post: the first six posts of every hundred are always published. */
export function postAt(requestNumber: number): string {
  const hundred = requestNumber % 100;
  const indexInHundred = Math.floor(requestNumber / 100) % 6;
  return String(1 + 100 * hundred + indexInHundred);
}

const existingCommentsMax = 1_000;
let existingCommentIds: readonly string[] | undefined;

export function commentAt(requestNumber: number): string {
  existingCommentIds ??= listExistingCommentIds();
  return existingCommentIds[requestNumber % existingCommentIds.length] ?? "";
}

/** A deleted comment has no body. */
function listExistingCommentIds(): readonly string[] {
  const { columns, rows } = commentsTable(countsAt(1));
  const bodyColumn = columns.indexOf("body");
  // Ids start at 1.
  const ids = Iterator.from(rows()).flatMap((row, index) => (row[bodyColumn] === null ? [] : [String(index + 1)]));
  return [...ids.take(existingCommentsMax)];
}

/** The SKU of a seeded product. There are 200, each with a stock of at least 50. */
export function skuAt(requestNumber: number): string {
  return `PRINT-${String(1 + (requestNumber % 200)).padStart(4, "0")}`;
}
