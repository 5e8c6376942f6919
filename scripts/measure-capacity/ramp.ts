// Finds the highest request rate that a process sustains: no request fails, and the 99th percentile of latencies is within the limit.

/** The measurements of one request rate. */
export interface RateResult {
  readonly perSecond: number;
  readonly requests: number;
  readonly failures: number;
  readonly p99Ms: number;
  /** The longest delay of sending: the load generator's delay, not the measured process's. */
  readonly sendDelayMsMax: number;
  /** CPU seconds that each process used during the measurement, by the part's name. */
  readonly cpuSeconds: ReadonlyMap<string, number>;
  readonly seconds: number;
}

export interface RampOptions {
  readonly p99MsMax: number;
  /** Sends requests at this rate and measures them. */
  measure(perSecond: number): Promise<RateResult>;
}

export interface RampResult {
  /** The highest rate that was sustained; undefined if the first rate was not. */
  readonly sustained: RateResult | undefined;
  /** The lowest rate that was not sustained; undefined if every rate was. */
  readonly failed: RateResult | undefined;
}

const perSecondFirst = 50;
/** Higher than the rate that one Node process can send. */
const perSecondMax = 20_000;
const growthFactor = 1.6;
/** The number of bisection steps between the last sustained rate and the first that was not: the result is exact to about 6 %. */
const bisectionSteps = 3;

/** Raises the rate by a factor until it is not sustained, then bisects (geometrically) between the last two rates. */
export async function findHighestRate(options: RampOptions): Promise<RampResult> {
  let bounds: RampResult = { sustained: undefined, failed: undefined };
  let rate = perSecondFirst;
  while (!bounds.failed && rate <= perSecondMax) {
    bounds = await tryRate(rate, bounds, options);
    rate *= growthFactor;
  }
  for (let step = 0; step < bisectionSteps; step++) {
    const { sustained, failed } = bounds;
    // The first rate was not sustained, or every rate was.
    if (!sustained || !failed) break;
    const geometricMean = Math.sqrt(sustained.perSecond * failed.perSecond);
    bounds = await tryRate(geometricMean, bounds, options);
  }
  return bounds;
}

/** Measures a rate. @returns the bounds with this rate as the highest sustained or the lowest failed one. */
async function tryRate(rate: number, bounds: RampResult, { p99MsMax, measure }: RampOptions): Promise<RampResult> {
  const perSecond = Math.round(rate);
  const isSustained = (result: RateResult) => result.failures === 0 && result.p99Ms <= p99MsMax;
  const firstResult = await measure(perSecond);
  // Another process on the machine may have caused one failed measurement, so it is repeated once.
  const result = isSustained(firstResult) ? firstResult : await measure(perSecond);
  if (isSustained(result)) return { sustained: result, failed: bounds.failed };
  return { sustained: bounds.sustained, failed: result };
}
