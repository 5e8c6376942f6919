// Fails the requests to a service at once while none of its replicas responds, instead of letting each wait for its deadline.

const limits = {
  /** Requests since the last response. Fewer may all be long. */
  arrivalsMin: 5,
  /** Without a response of any replica. A service that takes longer as a rule has twice the 99th percentile of its latencies. */
  silentMsMin: 1_000,
  silentP99s: 2,
  /** In a row, at each replica: one may have been lost, or this process was paused. */
  failedProbesToOpen: 2,
  /** One may be of a replica that still starts. */
  successesToClose: 2,
  /** Of each of them. Two in a row end within 2 s of the last response. */
  confirmingMsMax: 400,
  /** While it is open. Longer, since a replica that responds late is alive: it would never be used again on a machine that is busy. */
  probeMsMax: 2_000,
  /** Of each replica, while it is open. */
  probeEveryMs: 500,
} as const;

/** At one replica at once. */
export const probesMax = limits.probeMsMax / limits.probeEveryMs + 1;

/** Of a request that is rejected while the breaker is open: two probes later it may be closed. */
export const breakerRetrySeconds = 1;

export interface Breaker {
  readonly isOpen: boolean;
  /** Of a request, also of one that waits for the response to an equal one. */
  noteArrival(atMs: number): void;
  noteResponse(): void;
  /** Ends the probes. */
  close(): void;
}

export interface BreakerOptions<Replica> {
  listReplicas(): readonly Replica[];
  usualP99Ms(atMs: number): number;
  /** Resolves with whether the replica responded in time, whatever its status: an overloaded one is alive. Never rejects. */
  probe(replica: Replica, timeoutMs: number): Promise<boolean>;
  onChange(isOpen: boolean): void;
}

/** `confirming`: the service is silent, and is probed before the breaker opens. */
type BreakerState = "closed" | "confirming" | "open";

/** Refused connections are silence too. Responses such as 429 and 503, or clients that disconnect, are not. */
export function createBreaker<Replica>(o: BreakerOptions<Replica>): Breaker {
  let state: BreakerState = "closed";
  let isEnded = false;
  /** Since the last response. */
  let arrivals = 0;
  /** The first of them. */
  let silentSinceMs = 0;
  let responses = 0;

  async function confirm(): Promise<void> {
    const responsesBefore = responses;
    for (let round = 0; round < limits.failedProbesToOpen; round++) {
      const replicas = o.listReplicas();
      const results = await Promise.all(replicas.map((replica) => o.probe(replica, limits.confirmingMsMax)));
      // Without a known address, requests wait for the lookup.
      const isSilent = replicas.length > 0 && responses === responsesBefore && !results.some(Boolean);
      if (!isSilent || isEnded) return change("closed");
    }
    change("open");
    await probeUntilAlive();
    change("closed");
  }

  /** Does not wait for earlier probes: one that was lost would delay the next. */
  async function probeUntilAlive(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let successes = 0;
    const probe = async () => {
      if (isEnded) return resolve();
      if ((await respondsToProbe()) && ++successes >= limits.successesToClose) resolve();
    };
    const timer = setInterval(() => void probe(), limits.probeEveryMs).unref();
    await promise;
    clearInterval(timer);
  }

  /** Resolves at the first response of any replica, so that a replica that is still silent delays nothing. */
  async function respondsToProbe(): Promise<boolean> {
    const probes = o.listReplicas().map(async (replica) => {
      if (!(await o.probe(replica, limits.probeMsMax))) throw new Error("No response");
    });
    return Promise.any(probes).then(
      () => true,
      () => false,
    );
  }

  function change(next: BreakerState): void {
    const wasOpen = state === "open";
    state = next;
    arrivals = 0;
    if (wasOpen !== (next === "open")) o.onChange(next === "open");
  }

  return {
    get isOpen() {
      return state === "open";
    },
    noteArrival(atMs) {
      if (++arrivals === 1) silentSinceMs = atMs;
      if (arrivals < limits.arrivalsMin || state !== "closed" || isEnded) return;
      const silentMs = atMs - silentSinceMs;
      if (silentMs < limits.silentMsMin || silentMs < limits.silentP99s * o.usualP99Ms(atMs)) return;
      state = "confirming";
      void confirm();
    },
    noteResponse() {
      arrivals = 0;
      responses++;
    },
    close() {
      isEnded = true;
      change("closed");
    },
  };
}
