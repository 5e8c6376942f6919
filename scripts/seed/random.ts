/** A deterministic pseudo-random number generator (mulberry32): the same numbers on every machine. */
export interface Random {
  next(): number;
  integer(min: number, max: number): number;
  pick<T>(from: readonly T[]): T;
  /** A whole number from 1 to `count`. Low numbers are more frequent, the more so the higher `power` is; 1 is uniform. */
  skewed(count: number, power: number): number;
}

const uint32Count = 2 ** 32;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / uint32Count;
  };
  return {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
    skewed: (count, power) => 1 + Math.floor(count * next() ** power),
  };
}
