// The recent CPU time of each caller, in a count-min sketch whose counters decay: its memory does not grow with the number of callers.

const halfLifeMs = 1_000;
const rows = 2;
/** A power of two. With 100 heavy callers, another one shares both of its counters with heavy ones in 1 of 400 cases. */
const columns = 2_048;
/** In milliseconds of the decayed sum, which is 1.44 s (half-life / ln 2) times the CPU time per second. */
const bucketBoundsMs = [5, 10, 20, 40, 80, 160, 320];

export const bucketCount = bucketBoundsMs.length + 1;

export interface CallerCosts {
  add(key: string, cpuMs: number): void;
  bucketOf(key: string): number;
}

/** @param seed unpredictable, so that no client can choose to share the counters of another. */
export function createCallerCosts(nowMs: () => number, seed: number): CallerCosts {
  const values = new Float64Array(rows * columns);
  const updatedMs = new Float64Array(rows * columns);

  function readDecayed(index: number, atMs: number): number {
    const value = values[index] ?? 0;
    if (value === 0) return 0;
    const ageMs = atMs - (updatedMs[index] ?? 0);
    return value * 2 ** (-ageMs / halfLifeMs);
  }

  return {
    add(key, cpuMs) {
      const atMs = nowMs();
      const hash = hashOf(key, seed);
      for (let row = 0; row < rows; row++) {
        const index = counterIndexOf(hash, row);
        values[index] = readDecayed(index, atMs) + cpuMs;
        updatedMs[index] = atMs;
      }
    },
    bucketOf(key) {
      const atMs = nowMs();
      const hash = hashOf(key, seed);
      const firstMs = readDecayed(counterIndexOf(hash, 0), atMs);
      const secondMs = readDecayed(counterIndexOf(hash, 1), atMs);
      // Both may contain the time of other callers: the smaller one is nearer to the time of this caller.
      const recentMs = Math.min(firstMs, secondMs);
      let bucket = 0;
      while (bucket < bucketBoundsMs.length && recentMs >= (bucketBoundsMs[bucket] ?? 0)) bucket++;
      return bucket;
    },
  };
}

function counterIndexOf(hash: number, row: number): number {
  const rowBits = row === 0 ? hash : hash >>> 16;
  return row * columns + (rowBits & (columns - 1));
}

const fnvOffsetBasis = 0x811c9dc5;
const fnvPrime = 0x01000193;
const finalMixFactor = 0x7feb352d;

/** FNV-1a over UTF-16 code units, with a final mix so that the high bits depend on all characters. */
function hashOf(key: string, seed: number): number {
  let hash = fnvOffsetBasis ^ seed;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), fnvPrime);
  hash = Math.imul(hash ^ (hash >>> 16), finalMixFactor);
  return hash ^ (hash >>> 15);
}
