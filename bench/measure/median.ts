/** @throws RangeError without a number. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/**
 * The number below which this part of the others lies, between neighbours in proportion.
 * @throws RangeError without a number.
 */
export function quantile(numbers: readonly number[], part: number): number {
  const sorted = Float64Array.from(numbers).sort();
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new RangeError("There is no median of nothing.");
  return below + (above - below) * (place - Math.floor(place));
}
