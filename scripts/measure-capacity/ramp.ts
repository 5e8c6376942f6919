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
const halvings = 3;

/** Raises the rate by a factor until it is not sustained, then bisects (geometrically) between the last two rates. */
export async function findHighestRate(o: RampOptions): Promise<RampResult> {
  let best: RampResult = { sustained: undefined, failed: undefined };
  for (let rate = perSecondFirst; !best.failed && rate <= perSecondMax; rate *= growthFactor)
    best = await tryRate(rate, best, o);
  for (let index = 0; index < halvings; index++) {
    const { sustained, failed } = best;
    if (!sustained || !failed) break;
    best = await tryRate(Math.sqrt(sustained.perSecond * failed.perSecond), best, o);
  }
  return best;
}

async function tryRate(rate: number, best: RampResult, { p99MsMax, measure }: RampOptions): Promise<RampResult> {
  const perSecond = Math.round(rate);
  const isSustained = (result: RateResult) => result.failures === 0 && result.p99Ms <= p99MsMax;
  const first = await measure(perSecond);
  // Another process on the machine may have caused one failed measurement, so it is repeated once.
  const result = isSustained(first) ? first : await measure(perSecond);
  return isSustained(result) ? { ...best, sustained: result } : { ...best, failed: result };
}
