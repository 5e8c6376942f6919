/** @throws RangeError if `numbers` is empty. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/**
 * The quantile by linear interpolation between the two nearest numbers.
 * @param share 0 to 1, for example 0.99 for p99.
 * @throws RangeError if `numbers` is empty.
 */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new RangeError("An empty list has no quantile.");
  return below + (above - below) * (position - Math.floor(position));
}
