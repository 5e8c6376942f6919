// The job that load-testbed.ts sends to the load process (load-process.ts) over IPC, and the report that it gets back.

export interface LoadJob {
  /** One after another, without a pause. */
  readonly phases: readonly LoadPhase[];
  /** A response counts as in time up to this latency, from the time at which its request was due. */
  readonly inTimeMs: number;
  /** Connections of each client address to each port. A request that is due while all are in use waits for one. */
  readonly connectionsEach: number;
  /** The process whose CPU time is measured; undefined for none. */
  readonly pid?: number | undefined;
  /** The port to which liveness probes are sent during all phases; undefined for no probes. */
  readonly adminPort?: number | undefined;
}

/**
 * With `perSecond` the phase is an open loop: requests are sent at fixed times, however late responses are. Without it the phase is a closed loop:
 * each connection sends its next request after its response.
 */
export interface LoadPhase {
  readonly name: string;
  readonly seconds: number;
  /** Whether the caller discards its counts. Its `lagMs` is 0. */
  readonly isRamp?: boolean;
  readonly perSecond?: number;
  /** Connections of a closed loop. Default: 1. */
  readonly connections?: number;
  /** Sent in turn. */
  readonly requests: readonly RequestTemplate[];
}

export interface RequestTemplate {
  /** The name under which the report counts the request (`PhaseReport.kinds`). */
  readonly kind: string;
  /** The complete HTTP request. `uniqueMark` in it is replaced by a number of the same length that differs between requests. */
  readonly text: string;
  readonly port: number;
  /** The address of the client, in 127.0.0.0/8. */
  readonly localAddress: string;
  /** A 200 response with a shorter body is a failure. */
  readonly bodyBytesMin: number;
}

export const uniqueMark = "########";
/** The first number that replaces `uniqueMark`: a valid GraphQL Int of eight digits. */
export const firstUnique = 10_000_000;

export interface KindReport {
  sent: number;
  /** Served within `inTimeMs`. */
  good: number;
  /** Served, but later than `inTimeMs`. */
  late: number;
  /** Rejected because the process is overloaded: status 503 or code OVERLOADED. */
  rejected: number;
  /** Rejected by a rate limit: status 429 or code RATE_LIMITED. */
  limited: number;
  /** Other responses, lost connections, and requests without a response. */
  failed: number;
  /** Of served requests, ascending. */
  latenciesMs: number[];
}

export interface PhaseReport {
  readonly name: string;
  readonly seconds: number;
  /** CPU time of the process `LoadJob.pid` during the phase; 0 without it. */
  readonly cpuSeconds: number;
  readonly kinds: Readonly<Record<string, KindReport>>;
  /** The longest time between a request's due time and its sending: a delay of the load process. 0 in a ramp. */
  readonly lagMs: number;
}

export interface LoadReport {
  readonly phases: readonly PhaseReport[];
  /** Latencies of liveness probes; 5,000 for one without a response of status 200. */
  readonly probeLatenciesMs: readonly number[];
  /** The first reason of a failed request; empty for none. */
  readonly firstFailure: string;
}
