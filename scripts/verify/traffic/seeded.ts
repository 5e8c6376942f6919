// Ids of seeded rows (services/*/seed.sql, scale 1) by request number, so that successive requests use different rows.

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

/** The id of a comment that is not deleted: the first ten comments of every fifty never are. */
export function commentAt(requestNumber: number): string {
  const fifty = requestNumber % 100;
  const indexInFifty = Math.floor(requestNumber / 100) % 10;
  return String(1 + 50 * fifty + indexInFifty);
}

/** The SKU of a seeded product. There are 200, each with a stock of at least 50. */
export function skuAt(requestNumber: number): string {
  return `PRINT-${String(1 + (requestNumber % 200)).padStart(4, "0")}`;
}
