// The CPU time that each caller has used recently, by which admission.ts ranks requests of one class. A count-min sketch whose counters decay: its
// memory does not grow with the number of callers.

/** After this time a counter has half of its value. */
const halfLifeMs = 1_000;
const rows = 2;
/** Counters in each row. With 100 heavy callers, another caller shares both of its counters with heavy ones in 1 of 400 cases. */
const columns = 2_048;
/**
 * Upper bounds of all buckets but the last, in milliseconds of the decayed sum: that of a caller that constantly uses 10 ms per second is 14.4 ms
 * (half-life / ln 2).
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

  function read(index: number, atMs: number): number {
    const value = values[index] ?? 0;
    return value === 0 ? 0 : value * 2 ** (((updatedMs[index] ?? 0) - atMs) / halfLifeMs);
  }

  return {
    add(key, cpuMs) {
      const atMs = nowMs();
      const hash = hashOf(key, seed);
      for (let row = 0; row < rows; row++) {
        const index = counterOf(hash, row);
        values[index] = read(index, atMs) + cpuMs;
        updatedMs[index] = atMs;
      }
    },
    bucketOf(key) {
      const atMs = nowMs();
      const hash = hashOf(key, seed);
      const recentMs = Math.min(read(counterOf(hash, 0), atMs), read(counterOf(hash, 1), atMs));
      let bucket = 0;
      while (bucket < bucketBoundsMs.length && recentMs >= (bucketBoundsMs[bucket] ?? 0)) bucket++;
      return bucket;
    },
  };
}

/** The index of a key's counter: the first row takes the low bits of the hash, the second the high bits. */
function counterOf(hash: number, row: number): number {
  return row * columns + ((row === 0 ? hash : hash >>> 16) & (columns - 1));
}

/** FNV-1a over UTF-16 code units, with a final mix so that the high bits depend on all characters. */
function hashOf(key: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return hash ^ (hash >>> 15);
}
