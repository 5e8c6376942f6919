// The CPU time that each caller has used recently, by which admission.ts ranks requests of one class. A count-min sketch whose counters decay: its
// memory does not grow with the number of callers.

/** After this time a counter has half of its value. */
const halfLifeMs = 1_000;
const rows = 2;
/**
 * Counters in each row, a power of two. With 100 heavy callers, another caller shares both of its counters with heavy ones in 1 of 400 cases.
 */
const columns = 2_048;
/**
 * Upper bounds of all buckets but the last, in milliseconds of the decayed sum. If a caller constantly uses 10 ms per second, its sum is 14.4 ms: what
 * it uses per second, times half-life / ln 2 (1.44 s).
 */
const bucketBoundsMs = [5, 10, 20, 40, 80, 160, 320];

export const bucketCount = bucketBoundsMs.length + 1;

export interface CallerCosts {
  add(key: string, cpuMs: number): void;
  /** From 0 (less than 5 ms of recent CPU time) to `bucketCount - 1` (320 ms or more). */
  bucketOf(key: string): number;
}

/**
 * @param nowMs a monotonic clock.
 * @param seed of the hash: unpredictable, so that no client can choose to share the counters of another.
 */
export function createCallerCosts(nowMs: () => number, seed: number): CallerCosts {
  const values = new Float64Array(rows * columns);
  const updatedMs = new Float64Array(rows * columns);

  /** The value of a counter at a time, decayed since its last update. */
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

/** The index of a key's counter: the first row takes the low bits of the hash, the second the high bits. */
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
