/** One rate, held for some seconds. */
export interface Held {
  readonly perSecond: number;
  readonly requests: number;
  readonly failures: number;
  readonly p99Ms: number;
  /** How late our own load was at the latest: what it adds is no fault of the part's. */
  readonly sendDelayMsMax: number;
  /** Seconds of CPU that each unit took meanwhile. */
  readonly cpuSeconds: ReadonlyMap<string, number>;
  readonly seconds: number;
}

export interface RampOptions {
  readonly p99MsMax: number;
  measure(perSecond: number): Promise<Held>;
}

export interface Found {
  /** The highest rate that was held; undefined when not even the first was. */
  readonly held: Held | undefined;
  /** The lowest that was not; undefined when there was none. */
  readonly broke: Held | undefined;
}

const perSecondFirst = 50;
/** More than one process of Node can send. */
const perSecondMax = 20_000;
const growth = 1.6;
/** So often the stretch between the two is halved: to 4 % of the rate. */
const halvings = 3;

/** Raises the rate until it is not held, then looks for the place in between. */
export async function findHeld(o: RampOptions): Promise<Found> {
  let found: Found = { held: undefined, broke: undefined };
  for (let rate = perSecondFirst; !found.broke && rate <= perSecondMax; rate *= growth)
    found = await tryRate(rate, found, o);
  for (let index = 0; index < halvings; index++) {
    const { held, broke } = found;
    if (!held || !broke) break;
    found = await tryRate(Math.sqrt(held.perSecond * broke.perSecond), found, o);
  }
  return found;
}

async function tryRate(rate: number, found: Found, { p99MsMax, measure }: RampOptions): Promise<Found> {
  const perSecond = Math.round(rate);
  const isHeld = (one: Held) => one.failures === 0 && one.p99Ms <= p99MsMax;
  const first = await measure(perSecond);
  // Once may be the machine's fault.
  const one = isHeld(first) ? first : await measure(perSecond);
  return isHeld(one) ? { ...found, held: one } : { ...found, broke: one };
}
