/** A deterministic random number generator (mulberry32). @returns a function that returns a whole number from 0 to `end`, exclusive. */
export function createRandom(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  };
}
