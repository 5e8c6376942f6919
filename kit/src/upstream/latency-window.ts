export interface LatencyWindow {
  readonly isEmpty: boolean;
  record(latencyMs: number): void;
  /** Of the last 256 latencies, at most a second old. 0 without any. */
  p99Ms(atMs: number): number;
}

const sizeMax = 256;
const recomputeMs = 1_000;

export function createLatencyWindow(): LatencyWindow {
  const latencies = new Float64Array(sizeMax);
  let recordedCount = 0;
  let p99Ms = 0;
  let computedAtMs = Number.NEGATIVE_INFINITY;

  return {
    get isEmpty() {
      return recordedCount === 0;
    },
    record(latencyMs) {
      latencies[recordedCount % sizeMax] = latencyMs;
      recordedCount++;
    },
    p99Ms(atMs) {
      if (atMs - computedAtMs < recomputeMs) return p99Ms;
      computedAtMs = atMs;
      const sorted = latencies.slice(0, Math.min(recordedCount, sizeMax)).sort();
      p99Ms = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
      return p99Ms;
    },
  };
}
