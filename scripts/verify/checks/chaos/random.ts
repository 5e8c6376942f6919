const uint32Count = 2 ** 32;

/** A deterministic pseudo-random number generator (mulberry32): the same numbers on every machine. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / uint32Count;
  };
  return { next, integer: (min: number, max: number) => min + Math.floor(next() * (max - min + 1)) };
}
