/** The measurements of one request rate. */
export interface RateResult {
  readonly perSecond: number;
  readonly requests: number;
  readonly failures: number;
  readonly p99Ms: number;
  /** The longest delay of sending: the load generator's delay, not the measured process's. */
  readonly sendDelayMsMax: number;
  /** CPU seconds that each process used meanwhile, by name. */
  readonly cpuSeconds: ReadonlyMap<string, number>;
  readonly seconds: number;
}

export interface RampOptions {
  readonly p99MsMax: number;
  measure(perSecond: number): Promise<RateResult>;
}

export interface RampResult {
  /** The highest rate that was sustained; undefined if the first was not. */
  readonly held: RateResult | undefined;
  /** The lowest rate that was not sustained; undefined if all were. */
  readonly failed: RateResult | undefined;
}

const perSecondFirst = 50;
/** Higher than the rate that one Node process can send. */
const perSecondMax = 20_000;
const growthFactor = 1.6;
/** The number of bisection steps between the two rates: the result is exact to about 6 %. */
const halvings = 3;

/** Raises the rate until it is not sustained, then bisects between the last two rates. */
export async function findHighestRate(o: RampOptions): Promise<RampResult> {
  let found: RampResult = { held: undefined, failed: undefined };
  for (let rate = perSecondFirst; !found.failed && rate <= perSecondMax; rate *= growthFactor)
    found = await tryRate(rate, found, o);
  for (let index = 0; index < halvings; index++) {
    const { held, failed } = found;
    if (!held || !failed) break;
    found = await tryRate(Math.sqrt(held.perSecond * failed.perSecond), found, o);
  }
  return found;
}

async function tryRate(rate: number, found: RampResult, { p99MsMax, measure }: RampOptions): Promise<RampResult> {
  const perSecond = Math.round(rate);
  const isSustained = (result: RateResult) => result.failures === 0 && result.p99Ms <= p99MsMax;
  const first = await measure(perSecond);
  // Another process on the machine may have caused one failed measurement, so it is repeated once.
  const result = isSustained(first) ? first : await measure(perSecond);
  return isSustained(result) ? { ...found, held: result } : { ...found, failed: result };
}
