// How long a replica takes, and whether that is slow beside the other replicas of its service. replica-health.ts
// ejects it then.
import { createLatencyWindow, type LatencyWindow } from "./latency-window.ts";

const limits = {
  /** Below, differences between replicas are noise, such as garbage collection or code that is not compiled yet. */
  noiseMs: 5,
  /** Less than this factor between two replicas has no effect on the choice: a mix of cheap and dear requests causes it all the time. */
  choiceFactor: 2,
  /** Of a new latency. With one dear request of a hundred times the latency, the estimate rises 1.8 times (100^(1/8)), below `choiceFactor`. */
  newestWeight: 1 / 8,
  /** An unused replica becomes cheaper, so that it is tried again: after 25 s if it took 300 ms. */
  halfLifeMs: 5_000,
  /** Of all replicas together. Few, so that the comparison follows when all become slow at once. */
  recentCount: 32,
  /** Of other replicas, for a comparison. */
  othersMin: 8,
  /** The factor over others, and of how many of them. A share of 1/2 would be reached where half of the requests are dear, by chance. */
  slowFactor: 3,
  slowShare: 0.9,
  /** Faster responses are never slow: a replica that has just started takes this long. The choice avoids it nevertheless. */
  slowMsMin: 50,
} as const;

/** Of all its requests except failures, until the response is available (of a streamed response the head). */
export interface ReplicaLatency {
  /** Of reads only: an attempt's deadline follows from it. */
  readonly reads: LatencyWindow;
  record(latencyMs: number, isRead: boolean, atMs: number): void;
  noteUse(atMs: number): void;
  readonly meanMs: number;
  /** By which a replica is chosen: less than the mean while it is unused. */
  expectedMs(atMs: number): number;
}

export function createReplicaLatency(createdAtMs: number): ReplicaLatency {
  /** The geometric mean: of a mix, rare dear requests change it little. */
  let meanMs: number = limits.noiseMs;
  let usedAtMs = createdAtMs;
  const unusedShare = (atMs: number) => 2 ** ((usedAtMs - atMs) / limits.halfLifeMs);
  const reads = createLatencyWindow();
  return {
    reads,
    record(latencyMs, isRead, atMs) {
      if (isRead) reads.record(latencyMs);
      const countedMs = Math.max(limits.noiseMs, latencyMs);
      // Most are noise: without the powers, which take longer than the rest of this function.
      if (countedMs !== meanMs) {
        // The longer ago, the less the former latencies count.
        const formerWeight = (1 - limits.newestWeight) * unusedShare(atMs);
        meanMs = meanMs ** formerWeight * countedMs ** (1 - formerWeight);
      }
      usedAtMs = atMs;
    },
    noteUse(atMs) {
      usedAtMs = atMs;
    },
    get meanMs() {
      return meanMs;
    },
    expectedMs: (atMs) => Math.max(limits.noiseMs, meanMs * unusedShare(atMs)),
  };
}

interface Candidate {
  readonly latency: ReplicaLatency;
  readonly inFlight: number;
}

/** By latency times requests in flight (peak-EWMA, as Finagle and linkerd2-proxy), or by the latter alone if the latencies are alike. */
export function isLessLoaded(a: Candidate, b: Candidate, atMs: number): boolean {
  const aMs = a.latency.expectedMs(atMs);
  const bMs = b.latency.expectedMs(atMs);
  const areAlike = Math.max(aMs, bMs) < limits.choiceFactor * Math.min(aMs, bMs);
  if (areAlike) return a.inFlight < b.inFlight;
  return aMs * (a.inFlight + 1) < bMs * (b.inFlight + 1);
}

export interface RecentLatencies {
  /**
   * @returns whether this response of `replica` took over three times as long as nine of ten recent ones of other replicas. A mix of cheap and dear
   * requests almost never does so ten times in a row at one replica: it is the same at all.
   */
  record(replica: object, latencyMs: number): boolean;
}

export function createRecentLatencies(): RecentLatencies {
  const latencies = new Float64Array(limits.recentCount);
  const replicas: (object | undefined)[] = Array.from({ length: limits.recentCount });
  let next = 0;

  function isSlow(replica: object, latencyMs: number): boolean {
    if (latencyMs < limits.slowMsMin) return false;
    let others = 0;
    let faster = 0;
    for (let index = 0; index < limits.recentCount; index++) {
      const other = replicas[index];
      if (other === undefined || other === replica) continue;
      others++;
      if (latencyMs > limits.slowFactor * (latencies[index] ?? 0)) faster++;
    }
    return others >= limits.othersMin && faster >= limits.slowShare * others;
  }

  return {
    record(replica, latencyMs) {
      latencies[next] = latencyMs;
      replicas[next] = replica;
      next = (next + 1) % limits.recentCount;
      return isSlow(replica, latencyMs);
    },
  };
}
