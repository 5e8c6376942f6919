/** 95 % of a normal distribution are within this many standard deviations of its mean. */
const normalQuantile975 = 1.96;

/** @returns NaN for an empty list. */
export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/**
 * The interval that contains the median of the measured quantity with a probability of 95 %, whatever its distribution (the ranks that a binomial
 * distribution gives, approximated by a normal one). With less than six numbers it is their range, which is less certain.
 * @throws RangeError if `numbers` is empty.
 */
export function medianInterval(numbers: readonly number[]): readonly [low: number, high: number] {
  const sorted = Float64Array.from(numbers).sort();
  // n/2 numbers are expected below the median, with a standard deviation of √n/2.
  const numbersPerSideOutside = Math.floor((sorted.length - normalQuantile975 * Math.sqrt(sorted.length)) / 2);
  const lowIndex = Math.max(0, numbersPerSideOutside);
  const low = sorted[lowIndex];
  const high = sorted[sorted.length - 1 - lowIndex];
  if (low === undefined || high === undefined) throw new RangeError("An empty list has no median.");
  return [low, high];
}

/**
 * The quantile by linear interpolation between the two nearest numbers.
 * @param share 0 to 1, for example 0.99 for p99; 1 is the largest number.
 * @returns NaN for an empty list: no claim about it holds.
 */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) return Number.NaN;
  // Infinity minus Infinity would be NaN.
  if (below === above) return below;
  return below + (above - below) * (position - Math.floor(position));
}
